/* SPDX-License-Identifier: GPL-3.0-or-later
 * SASS reader: recorded texts of four architectures in both layouts, operands and widths by hand, cut and wrong text.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/sass_instruction.h"
#include "evidence/code/sass_listing.h"

Suite *suite_sass_listing(void);

#define RECORDED "tests/recorded/sass/"
enum {
    TEXT_BYTES_MAX = 1 << 24
};

static enum status parse(const char *text, struct sass_file *file, struct error *error)
{
    memset(error, 0, sizeof *error);
    return sass_listing_read_physical(text, strlen(text), "t.sass", file, error);
}

/* One function made of these lines. */
static struct sass_file parse_good(const char *text)
{
    struct sass_file file;
    struct error error;
    const enum status status = parse(text, &file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s", error.line, error.text);
    ck_assert_uint_ge(file.function_count, 1);
    return file;
}

static struct sass_file read_recorded(const char *name)
{
    char path[256], *text = NULL;
    size_t length = 0;
    struct error error = {0};
    struct sass_file file;
    snprintf(path, sizeof path, RECORDED "%s", name);
    ck_assert_msg(file_read_text(path, TEXT_BYTES_MAX, &text, &length, &error) == STATUS_OK, "%s", error.text);
    const enum status status = sass_listing_read_physical(text, length, name, &file, &error);
    ck_assert_msg(status == STATUS_OK, "%s:%u: %s", name, error.line, error.text);
    free(text);
    return file;
}

static size_t count(const struct code_listing *listing, enum code_op op)
{
    size_t found = 0;
    for (size_t i = 0; i < listing->count; i++) {
        found += listing->items[i].op == op;
    }
    return found;
}

static const struct code_instruction *find(const struct code_listing *listing, const char *mnemonic)
{
    for (size_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->items[i].mnemonic, mnemonic) == 0) {
            return &listing->items[i];
        }
    }
    ck_abort_msg("no %s", mnemonic);
}

static uint32_t r(uint32_t n)
{
    return n + 1;
}
static uint32_t ur(uint32_t n)
{
    return SASS_UNIFORM_FIRST + n;
}
static uint32_t p(uint32_t n)
{
    return SASS_PREDICATE_FIRST + n;
}
static uint32_t up(uint32_t n)
{
    return SASS_UNIFORM_PREDICATE_FIRST + n;
}

static void assert_registers(const char *what, const uint32_t *registers, uint32_t register_count,
                             const uint32_t *expected, uint32_t expected_count)
{
    ck_assert_msg(register_count == expected_count, "%s: %u registers, expected %u", what, register_count,
                  expected_count);
    for (uint32_t i = 0; i < expected_count; i++) {
        ck_assert_msg(registers[i] == expected[i], "%s: register %u is %u, expected %u", what, i, registers[i],
                      expected[i]);
    }
}
#define LIST(...)                (const uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t)
#define assert_writes(item, ...) assert_registers("writes", (item)->writes, (item)->write_count, LIST(__VA_ARGS__))
#define assert_reads(item, ...)  assert_registers("reads", (item)->reads, (item)->read_count, LIST(__VA_ARGS__))
#define assert_addresses(item, ...)                                                                                    \
    assert_registers("address", (item)->addresses, (item)->address_count, LIST(__VA_ARGS__))

/* --- recorded -------------------------------------------------------------------------------------------------------
 */

/* Expected counts are those of the PTX text beside it, but for what ptxas is known to change: see the comments. */
START_TEST(ampere_as_cuobjdump_prints_it)
{
    struct sass_file file = read_recorded("instructions_sm80.cuobjdump.sass");
    ck_assert_uint_eq(file.function_count, 1);
    const struct code_listing *zoo = sass_file_function(&file, "zoo");
    ck_assert_ptr_nonnull(zoo);
    ck_assert_uint_eq(zoo->arch, 80);
    ck_assert_int_eq(zoo->arch_suffix, 0);
    ck_assert(zoo->is_sass && !zoo->truncated);
    ck_assert_uint_eq(zoo->unknown_count, 0);
    ck_assert_uint_eq(count(zoo, CODE_OP_MMA), 7);
    ck_assert_uint_eq(count(zoo, CODE_OP_ASYNC_COPY), 3);
    ck_assert_uint_eq(count(zoo, CODE_OP_ASYNC_COMMIT), 2); /* wait_all commits once more */
    ck_assert_uint_eq(count(zoo, CODE_OP_ASYNC_WAIT), 2);
    ck_assert_int_eq(find(zoo, "DEPBAR.LE")->depth, 2);
    ck_assert_uint_eq(count(zoo, CODE_OP_BARRIER), 2); /* BAR.ARV waits for nobody */
    ck_assert_uint_eq(count(zoo, CODE_OP_GLOBAL_LOAD), 5);
    ck_assert_uint_eq(count(zoo, CODE_OP_GLOBAL_STORE), 9);
    ck_assert_uint_eq(count(zoo, CODE_OP_SHARED_LOAD), 0); /* @!PT LDS never runs */
    ck_assert_uint_eq(count(zoo, CODE_OP_LDMATRIX), 2);
    ck_assert_uint_eq(count(zoo, CODE_OP_EXPONENTIAL), 3); /* ex2.f16x2 takes two */
    ck_assert_uint_eq(count(zoo, CODE_OP_SPECIAL), 6);
    ck_assert_uint_eq(count(zoo, CODE_OP_SHUFFLE), 2);
    ck_assert_uint_eq(count(zoo, CODE_OP_REDUCE), 3);
    ck_assert_uint_eq(count(zoo, CODE_OP_ATOMIC), 4);
    const struct code_instruction *tf32 = find(zoo, "HMMA.1688.F32.TF32");
    ck_assert_str_eq(tf32->format, "tf32");
    ck_assert(tf32->m == 16 && tf32->n == 8 && tf32->k == 8);
    ck_assert_str_eq(find(zoo, "IMMA.16832.S8.S8")->format, "s8");
    ck_assert_str_eq(find(zoo, "HMMA.16816.F32")->format, "f16");
    ck_assert_str_eq(find(zoo, "DMMA.884")->format, "f64");
    sass_file_release(&file);
}
END_TEST

START_TEST(hopper)
{
    struct sass_file file = read_recorded("instructions_sm90a.nvdisasm.sass");
    const struct code_listing *zoo = sass_file_function(&file, "zoo");
    ck_assert_uint_eq(zoo->arch, 90);
    ck_assert_uint_eq(zoo->unknown_count, 0);
    ck_assert_uint_eq(count(zoo, CODE_OP_WGMMA), 4);
    ck_assert_uint_eq(count(zoo, CODE_OP_WGMMA_SYNC), 3); /* fence, wait and the wait that ptxas says it adds */
    ck_assert_int_eq(find(zoo, "WARPGROUP.DEPBAR.LE")->depth, 1);
    ck_assert_uint_eq(count(zoo, CODE_OP_BULK_COPY), 3);
    ck_assert_uint_eq(count(zoo, CODE_OP_TENSOR_COPY), 2);
    ck_assert_uint_eq(count(zoo, CODE_OP_MBARRIER), 5); /* init, two arrivals, the wait and its slow path */
    ck_assert_uint_eq(count(zoo, CODE_OP_STMATRIX), 2);
    ck_assert_uint_eq(count(zoo, CODE_OP_ASYNC_WAIT), 2); /* not that for the group of bulk copies */
    const struct code_instruction *product = find(zoo, "HGMMA.64x64x16.F32.BF16");
    ck_assert_str_eq(product->format, "bf16");
    ck_assert(product->m == 64 && product->n == 64 && product->k == 16);
    ck_assert_uint_eq(product->write_count, 32); /* 64 x 64 fp32 over 128 threads */
    ck_assert_uint_eq(product->read_count, 1 + 32);
    const struct code_instruction *integers = find(zoo, "IGMMA.64x8x32.S8.S8");
    assert_writes(integers, r(56), r(57), r(58), r(59));
    assert_reads(integers, r(60), r(61), r(62), r(63), ur(4), r(56), r(57), r(58), r(59));
    ck_assert(find(zoo, "UBLKCP.G.S")->to_global && !find(zoo, "UBLKCP.S.G")->to_global);
    ck_assert(find(zoo, "UTMASTG.2D")->to_global && !find(zoo, "UTMALDG.2D")->to_global);
    sass_file_release(&file);
}
END_TEST

START_TEST(blackwell_data_centre)
{
    struct sass_file file = read_recorded("instructions_sm100a.nvdisasm.sass");
    const struct code_listing *zoo = sass_file_function(&file, "zoo");
    ck_assert_uint_eq(zoo->arch, 100);
    ck_assert_uint_eq(zoo->unknown_count, 0);
    ck_assert_uint_eq(count(zoo, CODE_OP_TCGEN05), 5);
    ck_assert_str_eq(find(zoo, "UTCQMMA")->format, "f8f6f4");
    ck_assert_str_eq(find(zoo, "UTCOMMA.4X")->format, "mxf4nvf4");
    ck_assert_uint_eq(count(zoo, CODE_OP_FP32_PACKED), 3);
    ck_assert_int_eq(find(zoo, "CREDUX.MAX.F32")->op, CODE_OP_REDUCE);
    const struct code_instruction *load = find(zoo, "LDG.E.ENL2.256.CONSTANT");
    ck_assert_uint_eq(load->lane_bytes, 32);
    assert_writes(load, r(24), r(25), r(26), r(27), r(8), r(9), r(10), r(11));
    assert_addresses(load, r(28));
    const struct code_instruction *store = find(zoo, "STG.E.ENL2.256");
    ck_assert_uint_eq(store->lane_bytes, 32);
    ck_assert(store->has_address_offset && store->address_offset == 0x400);
    assert_reads(store, r(28), ur(16), r(29), r(8), r(9), r(10), r(11), r(24), r(25), r(26), r(27));
    assert_writes(find(zoo, "LDTM.x4"), r(8), r(9), r(10), r(11));
    ck_assert_uint_eq(count(zoo, CODE_OP_ASYNC_WAIT), 2); /* DEPBAR.LE SB1 is another matter */
    sass_file_release(&file);
}
END_TEST

START_TEST(blackwell_consumer)
{
    struct sass_file file = read_recorded("instructions_sm120a.nvdisasm.sass");
    const struct code_listing *zoo = sass_file_function(&file, "zoo");
    ck_assert_uint_eq(zoo->arch, 120);
    ck_assert_uint_eq(zoo->unknown_count, 0);
    const struct code_instruction *fp4 = find(zoo, "OMMA.SF.16864.F32.E2M1.");
    ck_assert_str_eq(fp4->format, "e2m1");
    ck_assert(fp4->m == 16 && fp4->n == 8 && fp4->k == 64);
    assert_reads(fp4, r(24), r(25), r(26), r(27), r(40), r(41), r(8), r(9), r(10), r(11), r(0), r(7));
    ck_assert_str_eq(find(zoo, "QMMA.16832.F32.E4M3.E2M")->format, "e4m3");
    ck_assert_uint_eq(find(zoo, "LDSM.8.MT1616")->lane_bytes, 8);
    ck_assert_uint_eq(find(zoo, "LDSM.U4x16P64TO8.M816")->lane_bytes, 4);
    ck_assert_uint_eq(count(zoo, CODE_OP_MMA), 11);
    const struct code_instruction *sum = find(zoo, "IADD.64");
    ck_assert_uint_eq(sum->write_count, 2);
    sass_file_release(&file);
}
END_TEST

/* The same cubin in both layouts. */
START_TEST(layouts_agree)
{
    struct sass_file one = read_recorded("instructions_sm90a.nvdisasm.sass");
    struct sass_file other = read_recorded("instructions_sm90a.cuobjdump.sass");
    ck_assert_uint_eq(one.function_count, 1);
    ck_assert_uint_eq(other.function_count, 1);
    const struct code_listing *a = &one.functions[0], *b = &other.functions[0];
    ck_assert_uint_gt(a->count, 200);
    ck_assert_uint_eq(a->count, b->count);
    size_t branches = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct code_instruction *x = &a->items[i], *y = &b->items[i];
        ck_assert_str_eq(x->mnemonic, y->mnemonic);
        ck_assert_int_eq(x->op, y->op);
        ck_assert_uint_eq(x->target, y->target);
        ck_assert_uint_eq(x->guard, y->guard);
        ck_assert_int_eq(x->immediate, y->immediate);
        assert_registers("writes", x->writes, x->write_count, y->writes, y->write_count);
        assert_registers("reads", x->reads, x->read_count, y->reads, y->read_count);
        branches += x->target != CODE_NO_TARGET;
    }
    ck_assert_uint_eq(branches, 13);
    sass_file_release(&one);
    sass_file_release(&other);
}
END_TEST

/* --- by hand --------------------------------------------------------------------------------------------------------
 */

START_TEST(guards_and_branches)
{
    struct sass_file file = parse_good("code for sm_120f\n\t\tFunction : _Z1kv\n"
                                       "  /*0000*/  @!PT LDS RZ, [RZ] ;\n"
                                       "  /*0010*/  @!P3 IADD3 R4, PT, PT, R4, 0x40, RZ &req={1} ?trans1;  /* 0xab */\n"
                                       "                                         /* 0x000fc400078e0003 */\n"
                                       "  /*0020*/  @UP1 UIADD3 UR4, UPT, UPT, UR4, -0x8, URZ ?WAIT5_END_GROUP;\n"
                                       "  /*0030*/  BRA.U !UP0, 0x10 ;\n"
                                       "  /*0040*/  @P0 BRA 0x0 ;\n"
                                       "  /*0050*/  @P6 EXIT ;\n"
                                       "  /*0060*/  BRA 0x60;\n"
                                       "\t\t..........\n");
    const struct code_listing *k = &file.functions[0];
    ck_assert_str_eq(k->name, "_Z1kv");
    ck_assert_uint_eq(k->arch, 120);
    ck_assert_int_eq(k->arch_suffix, 'f');
    ck_assert_uint_eq(k->count, 7);
    ck_assert(!k->truncated);
    ck_assert_int_eq(k->items[0].op, CODE_OP_OTHER);
    ck_assert_uint_eq(k->items[0].read_count, 0);
    const struct code_instruction *add = &k->items[1];
    ck_assert_uint_eq(add->line, 4);
    ck_assert(add->predicated && add->guard == p(3) && add->guard_negated);
    ck_assert(add->has_immediate && add->immediate == 0x40);
    assert_writes(add, r(4));
    assert_reads(add, r(4), p(3));
    ck_assert(k->items[2].guard == up(1) && !k->items[2].guard_negated && k->items[2].immediate == -8);
    ck_assert_int_eq(k->items[2].op, CODE_OP_UNIFORM);
    ck_assert(k->items[3].conditional && k->items[3].target == 1 && k->items[3].guard == up(0) &&
              k->items[3].guard_negated);
    ck_assert(k->items[4].conditional && k->items[4].target == 0);
    ck_assert(k->items[5].op == CODE_OP_EXIT && k->items[5].conditional);
    ck_assert(!k->items[6].conditional && k->items[6].target == 6);
    sass_file_release(&file);
}
END_TEST

START_TEST(widths_of_operands)
{
    static const struct {
        const char *text;
        enum code_op op;
        uint32_t lane_bytes, writes, reads;
    } rows[] = {
        {"LDG.E.128.CONSTANT R68, desc[UR16][R2.64]", CODE_OP_GLOBAL_LOAD, 16, 4, 3},
        {"LDG.E R0, [R2.64+UR4+0x10]", CODE_OP_GLOBAL_LOAD, 4, 1, 3},
        {"LDG.E.S16 R0, [R2.64]", CODE_OP_GLOBAL_LOAD, 2, 1, 2},
        {"LD.E.64 R4, [R2.64]", CODE_OP_GLOBAL_LOAD, 8, 2, 2},
        {"ST.E.U8 desc[UR4][R2.64], R7", CODE_OP_GLOBAL_STORE, 1, 0, 4},
        {"STG.E.128 desc[UR4][R2.64+-0x10], RZ", CODE_OP_GLOBAL_STORE, 16, 0, 3},
        {"LDGSTS.E.BYPASS.LTC128B.128 [R5+0x800], desc[UR4][R2.64], !P1", CODE_OP_ASYNC_COPY, 16, 0, 5},
        {"LDS.U.64 R4, [R9.X8+UR4]", CODE_OP_SHARED_LOAD, 8, 2, 2},
        {"STS.U16 [R9], R3", CODE_OP_SHARED_STORE, 2, 0, 2},
        {"LDSM.16.M88 R4, [R9]", CODE_OP_LDMATRIX, 4, 1, 1},
        {"STSM.16.MT88.4 [R9], R4", CODE_OP_STMATRIX, 16, 0, 5},
        {"LDL.LU.64 R4, [R1+0x8]", CODE_OP_LOCAL_LOAD, 8, 2, 1},
        {"STL.128 [R1+0x10], R4", CODE_OP_LOCAL_STORE, 16, 0, 5},
        {"LDC.64 R4, c[0x0][R5]", CODE_OP_CONSTANT_LOAD, 8, 2, 1},
        {"ULDC.64 UR4, c[0x0][0x210]", CODE_OP_CONSTANT_LOAD, 8, 2, 0},
        {"ATOMG.E.ADD.64.STRONG.GPU PT, R4, desc[UR4][R2.64], R6", CODE_OP_ATOMIC, 8, 2, 5},
        {"ATOMS.CAS R19, [R2], R18, R19", CODE_OP_ATOMIC, 4, 1, 3},
        {"IMAD.WIDE.U32 R2, R7, 0x4, R4", CODE_OP_INTEGER, 0, 2, 3},
        {"IMAD.WIDE R2, P1, R7, R8, R4", CODE_OP_INTEGER, 0, 3, 4},
        {"IADD3 R28, P0, P1, R0, UR8, R3", CODE_OP_INTEGER, 0, 3, 3},
        {"IADD3.X R29, R0, UR8, RZ, P0, !P1", CODE_OP_INTEGER, 0, 1, 4},
        {"ISETP.GE.U32.AND P1, PT, R3, R4, P2", CODE_OP_INTEGER, 0, 1, 3},
        {"PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x8", CODE_OP_INTEGER, 0, 1, 2},
        {"P2R R3, PR, R2, 0x7f", CODE_OP_INTEGER, 0, 1, 8},
        {"R2P PR, R0, 0x7f", CODE_OP_INTEGER, 0, 7, 1},
        {"SHFL.BFLY PT, R23, R22, 0x10, 0x1f", CODE_OP_SHUFFLE, 0, 1, 1},
        {"VOTE.ANY R34, PT, P0", CODE_OP_REDUCE, 0, 1, 1},
        {"VOTEU.ANY UP0, P1", CODE_OP_REDUCE, 0, 1, 1},
        {"R2UR P0, UR12, R2", CODE_OP_MOVE, 0, 2, 1},
        {"IMAD.U32 R4, RZ, RZ, UR5", CODE_OP_MOVE, 0, 1, 1},
        {"IMAD.U32 R4, R5, R6, UR5", CODE_OP_INTEGER, 0, 1, 3},
        {"HFMA2.MMA R5, -RZ, RZ, 0, 5.9604644775390625e-08", CODE_OP_MOVE, 0, 1, 0},
        {"HFMA2.BF16_V2 R5, R6, R7, R8.H0_H0", CODE_OP_HALF, 0, 1, 3},
        {"HADD2.F32 R3, -RZ, R3.H0_H0", CODE_OP_CONVERT, 0, 1, 1},
        {"HSETP2.GT.AND P0, P1, R2, R3, PT", CODE_OP_HALF, 0, 2, 2},
        {"FSETP.GEU.AND P1, PT, |R17|, 1.1754943508222875e-38, PT", CODE_OP_FP32, 0, 1, 1},
        {"FFMA2 R30, R6.F32x2.HI_LO, R8.F32x2.HI_LO, R30.F32x2.HI_LO", CODE_OP_FP32_PACKED, 0, 2, 6},
        {"DFMA R16, R12, -R18, R14", CODE_OP_FP64, 0, 2, 6},
        {"DSETP.GT.AND P0, PT, R12, R14, PT", CODE_OP_FP64, 0, 1, 4},
        {"F2F.F64.F32 R16, R33", CODE_OP_CONVERT, 0, 2, 1},
        {"F2F.F32.F64 R16, R32", CODE_OP_CONVERT, 0, 1, 2},
        {"I2F.F64 R16, R33", CODE_OP_CONVERT, 0, 2, 1},
        {"I2F.S64 R16, R32", CODE_OP_CONVERT, 0, 1, 2},
        {"F2I.S64.F64.TRUNC R16, R32", CODE_OP_CONVERT, 0, 2, 2},
        {"CS2R R12, SRZ", CODE_OP_MOVE, 0, 2, 0},
        {"CS2R.32 R12, SR_CLOCKLO", CODE_OP_MOVE, 0, 1, 0},
        {"MOV.64 R44, UR4", CODE_OP_MOVE, 0, 2, 2},
        {"MUFU.EX2.F16 R17, R4.H1", CODE_OP_EXPONENTIAL, 0, 1, 1},
        {"HMMA.16816.F32.BF16 R20, R16.reuse, R6.reuse, RZ", CODE_OP_MMA, 0, 4, 6},
        {"HMMA.SP.16832.F32.BF16 R20, R16, R8, R20, R2, 0x0", CODE_OP_MMA, 0, 4, 13},
        {"IMMA.16816.U8.S8 R8, R16.ROW, R6.COL, R8", CODE_OP_MMA, 0, 4, 7},
        {"BMMA.168256.XOR.POPC R8, R16.ROW, R6.COL, R8", CODE_OP_MMA, 0, 4, 10},
        {"SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R5+URZ], R17", CODE_OP_MBARRIER, 0, 1, 2},
        {"BAR.RED.OR.DEFER_BLOCKING 0x0, P0", CODE_OP_BARRIER, 0, 0, 1},
        {"B2R.RESULT RZ, P0", CODE_OP_MOVE, 0, 1, 0},
        {"UCGABAR_WAIT", CODE_OP_BARRIER, 0, 0, 0},
        {"RET.REL.NODEC R6 `(k)", CODE_OP_EXIT, 0, 0, 2},
        {"CALL.ABS.NOINC R14", CODE_OP_CALL, 0, 0, 2},
        {"BPT.TRAP 0x1", CODE_OP_EXIT, 0, 0, 0},
        {"WARPSYNC.ALL", CODE_OP_OTHER, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "/*0000*/ %s ;\n/*0010*/ BRA 0x10 ;\n", rows[i].text);
        struct sass_file file = parse_good(text);
        const struct code_instruction *item = &file.functions[0].items[0];
        ck_assert_msg(item->op == rows[i].op && item->lane_bytes == rows[i].lane_bytes &&
                          item->write_count == rows[i].writes && item->read_count == rows[i].reads &&
                          file.functions[0].unknown_count == 0,
                      "%s: %s, %u bytes, writes %u, reads %u", rows[i].text, code_op_name(item->op), item->lane_bytes,
                      item->write_count, item->read_count);
        sass_file_release(&file);
    }
}
END_TEST

START_TEST(addresses_and_literals)
{
    struct sass_file file = parse_good("/*0000*/ LDGSTS.E.BYPASS.128 [R5+0x800], desc[UR4][R2.64+0x40] ;\n"
                                       "/*0010*/ LDS R4, [R9.X8+0x10] ;\n"
                                       "/*0020*/ UIADD3 UR4, -UR7, 0x8, URZ ;\n"
                                       "/*0030*/ ISETP.GE.AND P0, PT, R9, 0x80, PT ;\n"
                                       "/*0040*/ ISETP.GE.AND P0, PT, R9, R8, PT ;\n"
                                       "/*0050*/ IMAD.MOV.U32 R31, RZ, RZ, -0xeb60d36 ;\n"
                                       "/*0060*/ IMAD.SHL.U32 R31, R30, 0x80, RZ ;\n"
                                       "/*0070*/ IMAD R2, R64, 0x80, R3 ;\n"
                                       "/*0080*/ IADD3 R2, R3, c[0x0][0x160], RZ ;\n"
                                       "/*0090*/ S2R R0, SR_TID.X ;\n"
                                       "/*00a0*/ S2UR UR8, SR_CTAID.X ;\n"
                                       "/*00b0*/ UMOV UR6, URZ ;\n"
                                       "/*00c0*/ LEA R4, P1, R2, UR4, 0x1 ;\n"
                                       "/*00d0*/ EXIT ;\n");
    const struct code_instruction *items = file.functions[0].items;
    assert_addresses(&items[0], r(2)); /* the global one, its low half */
    assert_reads(&items[0], r(2), r(5), ur(4), r(3));
    ck_assert(items[0].has_address_offset && items[0].address_offset == 0x40);
    ck_assert(!items[1].has_address_offset); /* scaled */
    ck_assert(!items[2].has_immediate);      /* 8 - x is no step */
    ck_assert(items[3].has_immediate && items[3].immediate == 0x80);
    ck_assert(!items[4].has_immediate);
    ck_assert(items[5].has_immediate && items[5].immediate == -0xeb60d36 && items[5].op == CODE_OP_MOVE);
    ck_assert(items[6].has_immediate && items[6].immediate == 0x80);
    ck_assert(!items[7].has_immediate);
    ck_assert(!items[8].has_immediate);
    ck_assert_int_eq(items[9].special, CODE_SPECIAL_THREAD_X);
    ck_assert_int_eq(items[10].special, CODE_SPECIAL_CTA);
    ck_assert(items[11].has_immediate && items[11].immediate == 0);
    ck_assert(!items[12].has_immediate);
    assert_writes(&items[12], r(4), p(1));
    sass_file_release(&file);
}
END_TEST

START_TEST(list_of_targets)
{
    struct sass_file file = parse_good("\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n.L_3:\n"
                                       "        /*0000*/ \t.byte\t0x04, 0x2f\n"
                                       "\t.section\t.text.k,\"ax\",@progbits\n"
                                       "\t.sectioninfo\t@\"SHI_REGISTERS=38\"\n"
                                       "k:\n.text.k:\n"
                                       "/*0000*/ BRX R2 -0x1d0 (*\"BRANCH_TARGETS .L_x_3,.L_x_4\"*) ;\n"
                                       ".L_x_3:\n"
                                       "/*0010*/ BRX R4 -0x10 ;\n"
                                       ".L_x_4:\n"
                                       "/*0020*/ BRA `(.L_x_3) ;\n"
                                       "/*0030*/ NOP ;\n"
                                       "\t.section\t.nv.constant0,\"a\",@progbits\n"
                                       "/*0000*/ .word 0x1\n");
    ck_assert_uint_eq(file.function_count, 1);
    const struct code_listing *k = &file.functions[0];
    ck_assert_uint_eq(k->count, 4);
    ck_assert(!k->truncated);
    ck_assert_uint_eq(k->items[0].target, 1);
    ck_assert_uint_eq(k->items[0].more_target_count, 1);
    ck_assert_uint_eq(k->items[0].more_targets[0], 2);
    ck_assert(!k->items[0].conditional);
    ck_assert(k->items[1].target == CODE_NO_TARGET);
    ck_assert_uint_eq(k->items[2].target, 1);
    sass_file_release(&file);
}
END_TEST

/* The way out of a loop of gqa_decode as ptxas 13.0 writes it for sm_80, beside a call that comes back. */
START_TEST(calls_that_are_jumps)
{
    struct sass_file file = parse_good("/*0000*/ MOV R6, 0x20 ;\n"
                                       "/*0010*/ @P1 CALL.REL.NOINC 0x50 ;\n"
                                       "/*0020*/ CALL.REL.NOINC 0x70 ;\n"
                                       "/*0030*/ BRA 0x0 ;\n"
                                       "/*0040*/ CALL.ABS.NOINC R14 ;\n"
                                       "/*0050*/ BRA 0x60 ;\n"
                                       "/*0060*/ EXIT ;\n"
                                       "/*0070*/ @!P0 BRA 0x90 ;\n"
                                       "/*0080*/ EXIT ;\n"
                                       "/*0090*/ RET.REL.NODEC R6 0x0 ;\n");
    const struct code_instruction *items = file.functions[0].items;
    ck_assert(items[1].op == CODE_OP_BRANCH && items[1].target == 5 && items[1].conditional);
    ck_assert_int_eq(items[2].op, CODE_OP_CALL);
    ck_assert(items[2].target == CODE_NO_TARGET);
    ck_assert_int_eq(items[4].op, CODE_OP_CALL);
    ck_assert(!file.functions[0].truncated);
    sass_file_release(&file);
}
END_TEST

START_TEST(the_slow_way_of_a_diverged_warp)
{
    struct sass_file file = parse_good("/*0000*/ BRA.DIV UR5, 0x20 ;\n/*0010*/ EXIT ;\n/*0020*/ BRA 0x10 ;\n");
    const struct code_instruction *item = &file.functions[0].items[0];
    ck_assert(item->op == CODE_OP_OTHER && item->target == CODE_NO_TARGET && !item->conditional);
    ck_assert_uint_eq(file.functions[0].unknown_count, 0);
    sass_file_release(&file);
}
END_TEST

/* --- values of one register apart -----------------------------------------------------------------------------------
 */

static struct sass_file separated(const char *text)
{
    struct sass_file file;
    struct error error = {0};
    const enum status status = sass_listing_read(text, strlen(text), "t.sass", &file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s", error.line, error.text);
    return file;
}

/* R2 is a counter, then an address, then a counter again; P0 two tests. */
START_TEST(values_of_one_register_are_told_apart)
{
    struct sass_file file = separated("/*0000*/ MOV R2, RZ ;\n"
                                      "/*0010*/ IADD3 R2, P0, R2, 0x1, RZ ;\n" /* a loop around 10 and 20 */
                                      "/*0020*/ @P1 BRA 0x10 ;\n"
                                      "/*0030*/ ISETP.NE.AND P0, PT, R2, RZ, PT ;\n" /* the counter's last value */
                                      "/*0040*/ MOV R2, R5 ;\n"                      /* something else */
                                      "/*0050*/ @P0 LDG.E R2, [R2] ;\n"              /* guarded: stays or is loaded */
                                      "/*0060*/ STG.E [R6], R2 ;\n"
                                      "/*0070*/ EXIT ;\n");
    const struct code_instruction *items = file.functions[0].items;
    const uint32_t counter = items[0].writes[0];
    ck_assert_uint_eq(items[1].reads[0], counter);
    ck_assert_uint_eq(items[1].writes[0], counter);
    ck_assert_uint_eq(items[3].reads[0], counter);
    ck_assert_uint_ne(items[1].writes[1], items[3].writes[0]); /* the two P0 */
    ck_assert_uint_eq(items[5].guard, items[3].writes[0]);
    const uint32_t address = items[4].writes[0];
    ck_assert_uint_ne(address, counter);
    ck_assert_uint_eq(items[5].addresses[0], address);
    ck_assert_uint_eq(items[5].writes[0], address);
    ck_assert_uint_eq(items[6].reads[1], address);
    ck_assert_uint_ne(items[4].reads[0], items[6].reads[0]); /* R5 and R6, from before */
    for (size_t i = 0; i < file.functions[0].count; i++) {
        for (uint32_t k = 0; k < items[i].read_count; k++) {
            ck_assert_uint_ge(items[i].reads[k], 1);
            ck_assert_uint_le(items[i].reads[k], file.functions[0].register_count);
        }
    }
    sass_file_release(&file);
}
END_TEST

/* Two branches write one register, read where they meet: one value, whatever else the register held. */
START_TEST(values_that_meet_are_one)
{
    struct sass_file file = separated("/*0000*/ MOV R1, R9 ;\n"
                                      "/*0010*/ @P0 BRA 0x40 ;\n"
                                      "/*0020*/ MOV R1, 0x1 ;\n"
                                      "/*0030*/ BRA 0x50 ;\n"
                                      "/*0040*/ MOV R1, 0x2 ;\n"
                                      "/*0050*/ MOV R3, R1 ;\n"
                                      "/*0060*/ EXIT ;\n");
    const struct code_instruction *items = file.functions[0].items;
    ck_assert_uint_eq(items[2].writes[0], items[4].writes[0]);
    ck_assert_uint_eq(items[5].reads[0], items[4].writes[0]);
    ck_assert_uint_ne(items[0].writes[0], items[4].writes[0]);
    sass_file_release(&file);
}
END_TEST

/* A wait is one for copies only where copies are. */
START_TEST(waits_of_other_things)
{
    struct sass_file file = parse_good("/*0000*/ DEPBAR.LE SB0, 0x1 ;\n/*0010*/ EXIT ;\n");
    ck_assert_int_eq(file.functions[0].items[0].op, CODE_OP_OTHER);
    ck_assert_int_eq(file.functions[0].items[0].depth, -1);
    sass_file_release(&file);
    file = parse_good("/*0000*/ LDGDEPBAR ;\n/*0010*/ DEPBAR.LE SB0, 0x1 ;\n/*0020*/ UTMACMDFLUSH ;\n"
                      "/*0030*/ DEPBAR.LE SB0, 0x3 ;\n/*0040*/ EXIT ;\n");
    ck_assert_int_eq(file.functions[0].items[1].op, CODE_OP_ASYNC_WAIT);
    ck_assert_int_eq(file.functions[0].items[1].depth, 1);
    ck_assert_int_eq(file.functions[0].items[3].op, CODE_OP_OTHER);
    sass_file_release(&file);
}
END_TEST

START_TEST(cut_texts_are_marked)
{
    static const char *const texts[] = {
        "Function : k\n",                                               /* nothing of it */
        "/*0000*/ MOV R1, R2 ;\n",                                      /* goes on */
        "/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;\n/*0020*/ IADD3 R1, R", /* inside an instruction */
        "/*0000*/ @P0 BRA 0x40 ;\n/*0010*/ EXIT ;\n",                   /* its target is missing */
        "/*0000*/ @P0 BRA `(.L_x_1) ;\n/*0010*/ EXIT ;\n.L_x_1:\n",     /* likewise */
        "/*0000*/ @P0 EXIT ;\n",                                        /* may go on */
        "/*0000*/ BRX R2 (*\"BRANCH_TARGETS .L_x_1\"*) ;\n/*0010*/ EXIT ;\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sass_file file = parse_good(texts[i]);
        ck_assert_msg(file.truncated && file.functions[0].truncated && file.functions[0].note[0] != '\0', "text %zu",
                      i);
        sass_file_release(&file);
    }
}
END_TEST

START_TEST(wrong_texts_are_refused)
{
    static const struct {
        const char *text, *message;
        unsigned line;
    } rows[] = {
        {"", "no function", 0},
        {"hello\n", "no function", 0},
        {"\t.section .nv.info\n/*0000*/ EXIT ;\n", "no function", 0},
        {"/*0010*/ NOP ;\n/*0010*/ NOP ;\n", "not above", 2},
        {"/*0000*/ NOP\n/*0010*/ NOP ;\n", "no ';'", 1},
        {"/*0000*/ nop ;\n", "no instruction", 1},
        {"/*0000*/ @P0 ;\n", "no instruction", 1},
        {"/*0000*/ ;\n", "no instruction", 1},
        {"Function : a\n.L_1:\n/*0000*/ NOP ;\n.L_1:\n/*0010*/ EXIT ;\n", "twice", 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sass_file file;
        struct error error;
        ck_assert_msg(parse(rows[i].text, &file, &error) == STATUS_BAD_DATA, "text %zu", i);
        ck_assert_msg(strstr(error.text, rows[i].message) != NULL, "text %zu: %s", i, error.text);
        ck_assert_uint_eq(error.line, rows[i].line);
        ck_assert_uint_eq(file.function_count, 0);
        ck_assert_ptr_null(file.functions);
    }
}
END_TEST

/* Unknown instructions are kept and counted; too many operands are cut and marked. */
START_TEST(the_unknown)
{
    struct sass_file file = parse_good("/*0000*/ FROBNICATE.X R4, R5, [R6] ;\n"
                                       "/*0010*/ MOV R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, "
                                       "R16, R17, R18, R19 ;\n"
                                       "/*0020*/ EXIT ;\n");
    ck_assert_uint_eq(file.functions[0].unknown_count, 1);
    ck_assert_int_eq(file.functions[0].items[0].op, CODE_OP_OTHER);
    assert_writes(&file.functions[0].items[0], r(4));
    ck_assert(file.functions[0].items[1].operands_cut);
    sass_file_release(&file);
}
END_TEST

/* Every prefix of a recorded text gives an answer or a message. */
START_TEST(every_prefix)
{
    char *text = NULL;
    size_t length = 0;
    struct error error = {0};
    ck_assert_int_eq(
        file_read_text(RECORDED "instructions_sm90a.nvdisasm.sass", TEXT_BYTES_MAX, &text, &length, &error), STATUS_OK);
    size_t whole = 0;
    for (size_t cut = 0; cut < length; cut += cut < 2000 ? 1 : 397) {
        char *part = malloc(cut + 1); /* of its exact size, for the sanitizers */
        ck_assert_ptr_nonnull(part);
        memcpy(part, text, cut);
        struct sass_file file;
        error.text[0] = '\0';
        if (sass_listing_read(part, cut, "t", &file, &error) == STATUS_OK) {
            whole += !file.truncated;
        } else {
            ck_assert(error.text[0] != '\0');
        }
        sass_file_release(&file);
        free(part);
    }
    ck_assert_uint_le(whole, 10); /* behind the last branch there is padding alone */
    free(text);
}
END_TEST

Suite *suite_sass_listing(void)
{
    Suite *suite = suite_create("sass_listing");
    TCase *recorded = tcase_create("recorded"), *hand = tcase_create("by hand");
    tcase_add_test(recorded, ampere_as_cuobjdump_prints_it);
    tcase_add_test(recorded, hopper);
    tcase_add_test(recorded, blackwell_data_centre);
    tcase_add_test(recorded, blackwell_consumer);
    tcase_add_test(recorded, layouts_agree);
    tcase_add_test(hand, guards_and_branches);
    tcase_add_test(hand, widths_of_operands);
    tcase_add_test(hand, addresses_and_literals);
    tcase_add_test(hand, list_of_targets);
    tcase_add_test(hand, values_of_one_register_are_told_apart);
    tcase_add_test(hand, values_that_meet_are_one);
    tcase_add_test(hand, calls_that_are_jumps);
    tcase_add_test(hand, the_slow_way_of_a_diverged_warp);
    tcase_add_test(hand, waits_of_other_things);
    tcase_add_test(hand, cut_texts_are_marked);
    tcase_add_test(hand, wrong_texts_are_refused);
    tcase_add_test(hand, the_unknown);
    tcase_add_test(hand, every_prefix);
    suite_add_tcase(suite, recorded);
    suite_add_tcase(suite, hand);
    return suite;
}
