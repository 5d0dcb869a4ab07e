/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: SASS text; what came out must be whole, and must do for a profile. */
#include "evidence/code/code_profile.h"
#include "evidence/code/sass_listing.h"
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
        FUZZ_REQUIRE(item->target == CODE_NO_TARGET || item->op == CODE_OP_BRANCH);
        for (uint32_t t = 0; t < item->more_target_count; t++) {
            FUZZ_REQUIRE(item->more_targets[t] < listing->count);
        }
        check_registers(listing, item->writes, item->write_count);
        check_registers(listing, item->reads, item->read_count);
        check_registers(listing, item->addresses, item->address_count);
    }
}

static void check_profile(const struct code_listing *listing)
{
    struct code_profile *profile = calloc(1, sizeof *profile);
    struct error error = {0};
    if (profile != NULL && code_profile_compute(listing, profile, &error) == STATUS_OK) {
        FUZZ_REQUIRE(profile->iteration.instructions_most >= profile->iteration.instructions_sure);
    }
    free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sass_file file;
    struct error error = {0};
    if (sass_listing_read((const char *)data, size, "input.sass", &file, &error) == STATUS_OK) {
        FUZZ_REQUIRE(file.function_count > 0);
        for (size_t i = 0; i < file.function_count; i++) {
            check_listing(&file.functions[i]);
            check_profile(&file.functions[i]);
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && file.function_count == 0 && file.functions == NULL);
    }
    sass_file_release(&file);
    return 0;
}
