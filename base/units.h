/* SPDX-License-Identifier: GPL-3.0-or-later
 * Unit constants. Inside model/ and sim/ everything is SI (seconds, bytes, flop, hertz); conversion happens at the
 * edges (data readers, cli, plots) through these names only. */
#ifndef OCCAM_BASE_UNITS_H
#define OCCAM_BASE_UNITS_H

#define BYTES_PER_KIB  1024.0
#define BYTES_PER_MIB  (1024.0 * 1024.0)
#define BYTES_PER_GIB  (1024.0 * 1024.0 * 1024.0)
#define BYTES_PER_KB   1e3
#define BYTES_PER_MB   1e6
#define BYTES_PER_GB   1e9
#define SECONDS_PER_MS 1e-3
#define SECONDS_PER_US 1e-6
#define SECONDS_PER_NS 1e-9
#define HZ_PER_MHZ     1e6
#define FLOP_PER_TFLOP 1e12

#endif
