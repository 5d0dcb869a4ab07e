/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: PTX text, its control flow and its profile; what came out must be whole. */
#include <math.h>

#include "evidence/code/code_loops.h"
#include "evidence/code/code_profile.h"
#include "evidence/code/ptx_listing.h"
#include "tests/fuzz/fuzz_target.h"

static void check_registers(const struct code_listing *listing, const uint32_t *registers, uint32_t count)
{
    FUZZ_REQUIRE(count <= CODE_OPERANDS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_REQUIRE(registers[i] >= 1 && registers[i] <= listing->register_count);
    }
}

static void check_listing(const struct code_listing *listing)
{
    FUZZ_REQUIRE(!listing->truncated || listing->note[0] != '\0');
    for (size_t i = 0; i < listing->count; i++) {
        const struct code_instruction *item = &listing->items[i];
        FUZZ_REQUIRE((unsigned)item->op < CODE_OP_COUNT && item->mnemonic[0] != '\0');
        FUZZ_REQUIRE(item->target == CODE_NO_TARGET || item->target < listing->count);
        for (uint32_t t = 0; t < item->more_target_count; t++) {
            FUZZ_REQUIRE(item->more_targets[t] < listing->count || item->more_targets[t] == CODE_NO_TARGET);
        }
        check_registers(listing, item->writes, item->write_count);
        check_registers(listing, item->reads, item->read_count);
        check_registers(listing, item->addresses, item->address_count);
        FUZZ_REQUIRE(item->address_count <= item->read_count);
    }
}

static void check_graph(const struct code_listing *listing)
{
    struct code_graph graph;
    FUZZ_REQUIRE(code_graph_build(listing, &graph) == STATUS_OK);
    for (uint32_t i = 0; i < graph.rpo_count; i++) {
        const struct code_block *block = &graph.blocks[graph.rpo[i]];
        FUZZ_REQUIRE(code_graph_dominates(&graph, block->dominator, graph.rpo[i]));
        FUZZ_REQUIRE(block->loop == CODE_NONE || code_loop_contains(&graph, block->loop, graph.rpo[i]));
    }
    for (uint32_t i = 0; i < graph.loop_count; i++) {
        FUZZ_REQUIRE(graph.loops[i].parent == CODE_NONE || graph.loops[i].parent < i);
        FUZZ_REQUIRE(!(graph.loops[i].trip.turns < 0));
    }
    code_graph_release(&graph);
}

static void check_profile(const struct code_listing *listing)
{
    static struct code_profile profile; /* large; filled anew each time */
    struct tile_loop loop = {0};
    struct error error = {0};
    char assumed[512];
    if (code_profile_compute(listing, &profile, &error) != STATUS_OK) {
        FUZZ_REQUIRE(listing->count == 0 && error.text[0] != '\0');
        return;
    }
    FUZZ_REQUIRE(profile.iteration.instructions_sure <= profile.iteration.instructions_most);
    for (int i = 0; i < CODE_OP_COUNT; i++) {
        FUZZ_REQUIRE(profile.iteration.sure[i] >= 0 && profile.iteration.sure[i] <= profile.iteration.most[i]);
    }
    if (code_profile_tile_loop(&profile, 4, &loop, assumed, sizeof assumed, &error) == STATUS_OK) {
        FUZZ_REQUIRE(profile.has_loop && loop.buffers >= 1 && loop.mma_count <= TILE_LOOP_MMA_MAX);
        FUZZ_REQUIRE(isfinite(loop.smem_bytes) && loop.smem_bytes >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_file file;
    struct error error = {0};
    if (ptx_listing_read((const char *)data, size, "input.ptx", &file, &error) == STATUS_OK) {
        FUZZ_REQUIRE(file.entry_count > 0 && file.version_major > 0);
        for (size_t i = 0; i < file.entry_count; i++) {
            check_listing(&file.entries[i]);
            check_graph(&file.entries[i]);
            check_profile(&file.entries[i]);
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && file.entry_count == 0 && file.entries == NULL);
    }
    ptx_file_release(&file);
    return 0;
}
