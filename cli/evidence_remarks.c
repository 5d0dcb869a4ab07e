/* SPDX-License-Identifier: GPL-3.0-or-later
 * Files of evidence as records and as lines. */
#include "cli/evidence_remarks.h"

#include <stdio.h>

void evidence_record_files(struct report *report, const struct evidence *evidence)
{
    report_begin_rows(report, "files");
    for (size_t i = 0; i < evidence->file_count; i++) {
        const struct evidence_file *file = &evidence->files[i];
        report_begin_object(report, NULL);
        report_string(report, "file", file->path);
        report_string(report, "kind", file->kind->name);
        report_integer(report, "entries", (int64_t)file->count);
        report_integer(report, "skipped", (int64_t)file->skipped);
        report_string(report, "first_skipped", file->first_skipped);
        report_string(report, "remark", file->remark);
        report_end(report);
    }
    report_end(report);
}

void evidence_print_files(const struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->file_count; i++) {
        const struct evidence_file *file = &evidence->files[i];
        if (file->skipped > 0) {
            (void)printf("%s: %llu entries left out; the first: %s\n", file->path, (unsigned long long)file->skipped,
                         file->first_skipped);
        }
        if (file->remark[0] != '\0') {
            (void)printf("%s: %s\n", file->path, file->remark);
        }
    }
}
