/* SPDX-License-Identifier: GPL-3.0-or-later
 * The PTX reader: every kind of instruction by hand, scopes, what is cut or wrong. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/ptx_listing.h"

#define HEAD   ".version 8.7\n.target sm_90a\n"
#define KERNEL HEAD ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"

static void read_text(const char *text, struct ptx_file *file)
{
    struct error error = {0};
    const enum status status = ptx_listing_read(text, strlen(text), "k.ptx", file, &error);
    ck_assert_msg(status == STATUS_OK, "line %u: %s in\n%s", error.line, error.text, text);
}

/* The instructions of one kernel with this body. */
static const struct code_listing *read_body(const char *body, struct ptx_file *file)
{
    char text[4096];
    ck_assert_int_lt(snprintf(text, sizeof text, KERNEL "%s\n}\n", body), (int)sizeof text);
    read_text(text, file);
    ck_assert_uint_eq(file->entry_count, 1);
    return &file->entries[0];
}

/* ---- meaning of instructions ----------------------------------------------------------------------------------- */
static const struct meaning {
    const char *text;
    enum code_op op;
    uint32_t lane_bytes, writes, reads, addresses;
} meanings[] = {
    {"ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1+16];", CODE_OP_GLOBAL_LOAD, 16, 4, 1, 1},
    {"ld.global.nc.L1::no_allocate.L2::128B.v2.u64 {%rd2,%rd3}, [%rd1];", CODE_OP_GLOBAL_LOAD, 16, 2, 1, 1},
    {"ld.relaxed.gpu.global.L1::evict_last.b8 %r1, [%rd1];", CODE_OP_GLOBAL_LOAD, 1, 1, 1, 1},
    {"ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,_}, [%rd1];", CODE_OP_GLOBAL_LOAD, 32, 7, 1, 1},
    {"ld.b32 %r1, [%rd1];", CODE_OP_GLOBAL_LOAD, 4, 1, 1, 1},
    {"ld.shared::cta.v4.f32 {%f1,%f2,%f3,%f4}, [%r9];", CODE_OP_SHARED_LOAD, 16, 4, 1, 1},
    {"ld.local.u16 %rs1, [%rd1];", CODE_OP_LOCAL_LOAD, 2, 1, 1, 1},
    {"ld.param.b64 %rd1, [a];", CODE_OP_CONSTANT_LOAD, 8, 1, 0, 0},
    {"st.global.v4.b32 [%rd1], {%r1,%r2,%r3,%r4};", CODE_OP_GLOBAL_STORE, 16, 0, 5, 1},
    {"st.shared.b8 [%r1+4], %rs1;", CODE_OP_SHARED_STORE, 1, 0, 2, 1},
    {"st.local.v2.f64 [%rd1], {%fd1,%fd2};", CODE_OP_LOCAL_STORE, 16, 0, 3, 1},
    {"atom.global.add.f32 %f1, [%rd1], %f2;", CODE_OP_ATOMIC, 4, 1, 2, 1},
    {"red.shared.add.u32 [%r1], %r2;", CODE_OP_ATOMIC, 4, 0, 2, 1},
    {"cp.async.cg.shared.global [%r1], [%rd1], 0x10, %r2;", CODE_OP_ASYNC_COPY, 16, 0, 3, 1},
    {"cp.async.ca.shared.global.L2::cache_hint [ %r1 + 0 ], [ %rd1 + 0 ], 8, %r2, %rd2;", CODE_OP_ASYNC_COPY, 8, 0, 4,
     1},
    {"cp.async.commit_group;", CODE_OP_ASYNC_COMMIT, 0, 0, 0, 0},
    {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];", CODE_OP_MBARRIER, 0, 0, 1, 1},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 4096, [%r2];", CODE_OP_BULK_COPY,
     4096, 0, 3, 1},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], "
     "[%r4];",
     CODE_OP_TENSOR_COPY, 0, 0, 5, 3},
    {"cp.async.bulk.commit_group;", CODE_OP_OTHER, 0, 0, 0, 0},
    {"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16384;", CODE_OP_MBARRIER, 16384, 0, 1, 1},
    {"mbarrier.init.shared.b64 [%r1], 1;", CODE_OP_MBARRIER, 0, 0, 1, 1},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1,%r2,%r3,%r4}, [%r5+128];", CODE_OP_LDMATRIX, 16, 4, 1, 1},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r2,%r3};", CODE_OP_STMATRIX, 8, 0, 3, 1},
    {"ex2.approx.ftz.f32 %f1, %f2;", CODE_OP_EXPONENTIAL, 0, 1, 1, 0},
    {"rsqrt.approx.f32 %f1, %f2;", CODE_OP_SPECIAL, 0, 1, 1, 0},
    {"div.full.f32 %f1, %f2, %f3;", CODE_OP_SPECIAL, 0, 1, 2, 0},
    {"div.s32 %r1, %r2, %r3;", CODE_OP_INTEGER, 0, 1, 2, 0},
    {"cvt.rn.bf16x2.f32 %r1, %f1, %f2;", CODE_OP_CONVERT, 0, 1, 2, 0},
    {"cvt.s64.s32 %rd1, %r1;", CODE_OP_MOVE, 0, 1, 1, 0},
    {"cvt.rzi.s32.f32 %r1, %f1;", CODE_OP_CONVERT, 0, 1, 1, 0},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", CODE_OP_SHUFFLE, 0, 2, 1, 0},
    {"redux.sync.max.s32 %r1, %r2, 0xffffffff;", CODE_OP_REDUCE, 0, 1, 1, 0},
    {"vote.sync.ballot.b32 %r1, %p1, -1;", CODE_OP_REDUCE, 0, 1, 1, 0},
    {"bar.sync 0;", CODE_OP_BARRIER, 0, 0, 0, 0},
    {"barrier.sync.aligned 1, 128;", CODE_OP_BARRIER, 0, 0, 0, 0},
    {"bar.warp.sync -1;", CODE_OP_OTHER, 0, 0, 0, 0},
    {"fence.proxy.async.shared::cta;", CODE_OP_FENCE, 0, 0, 0, 0},
    {"fma.rn.f32 %f1, %f2, %f3, 0f3F800000;", CODE_OP_FP32, 0, 1, 2, 0},
    {"fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;", CODE_OP_FP32_PACKED, 0, 1, 3, 0},
    {"fma.rn.bf16x2 %r1, %r2, %r3, %r4;", CODE_OP_HALF, 0, 1, 3, 0},
    {"add.f64 %fd1, %fd2, %fd3;", CODE_OP_FP64, 0, 1, 2, 0},
    {"selp.f32 %f1, %f2, 0fFF800000, %p1;", CODE_OP_FP32, 0, 1, 2, 0},
    {"mad.wide.s32 %rd1, %r1, 2, %rd2;", CODE_OP_INTEGER, 0, 1, 2, 0},
    {"prmt.b32 %r1, %r2, %r3, 0x7531U;", CODE_OP_INTEGER, 0, 1, 2, 0},
    {"setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;", CODE_OP_INTEGER, 0, 2, 2, 0},
    {"mov.b64 {%r1, %r2}, %rd1;", CODE_OP_MOVE, 0, 2, 1, 0},
    {"mov.u32 %r1, %ctaid.x;", CODE_OP_MOVE, 0, 1, 0, 0},
    {"trap;", CODE_OP_EXIT, 0, 0, 0, 0},
    {"griddepcontrol.wait;", CODE_OP_OTHER, 0, 0, 0, 0},
    {"tcgen05.wait::ld.sync.aligned;", CODE_OP_TCGEN05_OTHER, 0, 0, 0, 0},
    {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1,%r2}, [%r3];", CODE_OP_TCGEN05_OTHER, 0, 2, 1, 1},
    {"wgmma.fence.sync.aligned;", CODE_OP_WGMMA_SYNC, 0, 0, 0, 0},
};

START_TEST(instructions_mean_what_the_isa_says)
{
    const struct meaning *expected = &meanings[_i];
    struct ptx_file file;
    const struct code_listing *listing = read_body(expected->text, &file);
    ck_assert_uint_ge(listing->count, 1);
    const struct code_instruction *item = &listing->items[0];
    ck_assert_msg(item->op == expected->op, "%s is %s", expected->text, code_op_name(item->op));
    ck_assert_msg(item->lane_bytes == expected->lane_bytes, "%s: %u bytes", expected->text, item->lane_bytes);
    ck_assert_msg(item->write_count == expected->writes, "%s: %u writes", expected->text, item->write_count);
    ck_assert_msg(item->read_count == expected->reads, "%s: %u reads", expected->text, item->read_count);
    ck_assert_msg(item->address_count == expected->addresses, "%s: %u addresses", expected->text, item->address_count);
    ck_assert_msg(listing->unknown_count == 0, "%s", expected->text);
    ptx_file_release(&file);
}
END_TEST

static const struct shape {
    const char *text, *format;
    enum code_op op;
    uint32_t m, n, k;
} shapes[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, "
     "{%r1,%r2,%r3,%r4};",
     "bf16", CODE_OP_MMA, 16, 8, 16},
    {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, "
     "{%r9,%r10}, {%r1,%r2,%r3,%r4};",
     "e4m3", CODE_OP_MMA, 16, 8, 32},
    {"mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%r1,%r2,%r3,%r4}, %r11, {0, 1}, %r12, {0, 1};",
     "e2m1", CODE_OP_MMA, 16, 8, 64},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, "
     "{%r1,%r2,%r3,%r4};",
     "tf32", CODE_OP_MMA, 16, 8, 8},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, "
     "{%r1,%r2,%r3,%r4};",
     "s8", CODE_OP_MMA, 16, 8, 32},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r2,%r3,%r4}, %rd1, %rd2, 1, 1, 1, 0, 0;", "f16",
     CODE_OP_WGMMA, 64, 8, 16},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", "f16", CODE_OP_TCGEN05, 0, 0, 0},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1,%r2}, {%r3}, {%r4}, {%r1,%r2};", "f16", CODE_OP_MMA, 16, 16,
     16},
};

START_TEST(products_have_shape_and_type)
{
    struct ptx_file file;
    const struct code_instruction *item = &read_body(shapes[_i].text, &file)->items[0];
    ck_assert_int_eq(item->op, shapes[_i].op);
    ck_assert_str_eq(item->format, shapes[_i].format);
    ck_assert_uint_eq(item->m, shapes[_i].m);
    ck_assert_uint_eq(item->n, shapes[_i].n);
    ck_assert_uint_eq(item->k, shapes[_i].k);
    ptx_file_release(&file);
}
END_TEST

static const struct literal {
    const char *text;
    bool has;
    int64_t value;
} literals[] = {
    {"add.s32 %r1, %r2, -5;", true, -5},
    {"add.s32 %r1, 7, %r2;", true, 7},
    {"sub.s32 %r1, %r2, 3;", true, -3},
    {"sub.s32 %r1, 3, %r2;", false, 0},
    {"and.b32 %r1, %r2, 0x7f;", true, 127},
    {"shl.b32 %r1, %r2, 4;", true, 4},
    {"shl.b32 %r1, 4, %r2;", false, 0},
    {"setp.lt.s32 %p1, %r1, 100;", true, 100},
    {"setp.lt.s32 %p1, 100, %r1;", false, 0},
    {"bfe.u32 %r1, %r2, 4, 3;", true, ((int64_t)3 << 32) + 4},
    {"mov.u32 %r1, 1U;", true, 1},
    {"mov.b32 %r1, global;", false, 0},
    {"add.s32 %r1, %r2, %r3;", false, 0},
    {"add.s64 %rd1, %rd2, -9223371899415822336;", true, -9223371899415822336},
};

START_TEST(literals_are_kept)
{
    struct ptx_file file;
    const struct code_instruction *item = &read_body(literals[_i].text, &file)->items[0];
    ck_assert_msg(item->has_immediate == literals[_i].has, "%s", literals[_i].text);
    ck_assert_msg(item->immediate == literals[_i].value, "%s: %lld", literals[_i].text, (long long)item->immediate);
    ptx_file_release(&file);
}
END_TEST

START_TEST(waits_have_a_depth)
{
    struct ptx_file file;
    const struct code_listing *listing = read_body("cp.async.wait_group 3; cp.async.wait_all; "
                                                   "wgmma.wait_group.sync.aligned 1; bar.sync 0;",
                                                   &file);
    ck_assert_int_eq(listing->items[0].depth, 3);
    ck_assert_int_eq(listing->items[1].depth, 0);
    ck_assert_int_eq(listing->items[2].depth, 1);
    ck_assert_int_eq(listing->items[3].depth, -1);
    ck_assert_int_eq(listing->items[0].op, CODE_OP_ASYNC_WAIT);
    ck_assert_int_eq(listing->items[2].op, CODE_OP_WGMMA_SYNC);
    ptx_file_release(&file);
}
END_TEST

START_TEST(guards_offsets_and_special_registers)
{
    struct ptx_file file;
    const struct code_listing *listing =
        read_body("@!%p1 ld.global.b32 %r1, [%rd1+-8]; mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %laneid; "
                  "ld.param.u32 %r5, [n]; st.shared.u32 [buffer+4], %r1; @%p1 exit;",
                  &file);
    const struct code_instruction *items = listing->items;
    ck_assert(items[0].predicated && items[0].guard_negated && items[0].guard != 0);
    ck_assert_uint_eq(items[0].reads[items[0].read_count - 1], items[0].guard);
    ck_assert(items[0].has_address_offset);
    ck_assert_int_eq(items[0].address_offset, -8);
    ck_assert_int_eq(items[1].special, CODE_SPECIAL_THREAD_X);
    ck_assert_int_eq(items[2].special, CODE_SPECIAL_THREAD);
    ck_assert_int_eq(items[3].special, CODE_SPECIAL_LANE);
    ck_assert_uint_eq(items[4].parameter, 2);
    ck_assert(!items[5].has_address_offset);
    ck_assert(items[6].conditional && items[6].op == CODE_OP_EXIT);
    ck_assert_uint_eq(items[6].guard, items[0].guard);
    ptx_file_release(&file);
}
END_TEST

/* cvta makes the generic address of a stack slot or of shared memory; sums of it stay there. */
START_TEST(generic_addresses_follow_their_origin)
{
    struct ptx_file file;
    const struct code_listing *listing =
        read_body(".local .align 4 .b8 depot[64]; .shared .b32 word; mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; "
                  "add.u64 %rd1, %SP, 16; st.u32 [%rd1], %r1; mov.u32 %r2, word; cvta.shared.u64 %rd2, %r2; "
                  "ld.u32 %r3, [%rd2]; ld.u32 %r4, [%rd3]; mov.u64 %rd1, %rd3; ld.u32 %r5, [%rd1];",
                  &file);
    ck_assert_int_eq(listing->items[3].op, CODE_OP_LOCAL_STORE);
    ck_assert_int_eq(listing->items[6].op, CODE_OP_SHARED_LOAD);
    ck_assert_int_eq(listing->items[7].op, CODE_OP_GLOBAL_LOAD);
    ck_assert_int_eq(listing->items[9].op, CODE_OP_GLOBAL_LOAD);
    ck_assert_uint_eq(listing->local_bytes, 64);
    ck_assert_uint_eq(listing->static_smem_bytes, 4);
    ptx_file_release(&file);
}
END_TEST

/* ---- scopes ---------------------------------------------------------------------------------------------------- */
#define WAIT                                                                                                           \
    "{ .reg .pred p; .reg .b32 t<2>; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%r1], 0; add.s32 t1, %r1, 1; "      \
    "@p bra DONE; bra WAIT; DONE: }\n"

START_TEST(names_of_inline_assembly_are_their_own)
{
    struct ptx_file file;
    const struct code_listing *listing = read_body(WAIT WAIT "add.s32 t1, %r1, 1; ret;", &file);
    const struct code_instruction *items = listing->items;
    ck_assert_uint_eq(listing->count, 10);
    ck_assert_uint_eq(items[2].target, 4); /* DONE of the first: what follows it */
    ck_assert_uint_eq(items[3].target, 0);
    ck_assert_uint_eq(items[6].target, 8);
    ck_assert_uint_eq(items[7].target, 4);
    ck_assert_uint_ne(items[0].writes[0], items[4].writes[0]); /* p */
    ck_assert_uint_ne(items[1].writes[0], items[5].writes[0]); /* t1 */
    ck_assert_uint_eq(items[0].addresses[0], items[4].addresses[0]);
    ck_assert_uint_eq(items[2].guard, items[0].writes[0]);
    ck_assert_uint_eq(items[8].write_count, 0); /* t1 is no register outside */
    ptx_file_release(&file);
}
END_TEST

START_TEST(an_inner_range_hides_the_outer_one)
{
    struct ptx_file file;
    const struct code_listing *listing =
        read_body(".reg .b32 %r<9>; mov.u32 %r1, 1; { .reg .b32 %r<4>; mov.u32 %r1, 2; { mov.u32 %r1, 3; } } "
                  "mov.u32 %r1, 4;",
                  &file);
    ck_assert_uint_eq(listing->items[0].writes[0], listing->items[3].writes[0]);
    ck_assert_uint_ne(listing->items[0].writes[0], listing->items[1].writes[0]);
    ck_assert_uint_eq(listing->items[1].writes[0], listing->items[2].writes[0]);
    ptx_file_release(&file);
}
END_TEST

START_TEST(indirect_branches_have_their_list)
{
    struct ptx_file file;
    const struct code_listing *listing =
        read_body("T: .branchtargets A, B;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 1;\nB: ret;", &file);
    ck_assert_uint_eq(listing->items[0].target, 1);
    ck_assert_uint_eq(listing->items[0].more_target_count, 1);
    ck_assert_uint_eq(listing->items[0].more_targets[0], 2);
    ptx_file_release(&file);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------------------------- */
START_TEST(a_file_of_several_kernels)
{
    struct ptx_file file;
    read_text("// made by hand\n.version 8.4\n.target sm_120a, debug\n.address_size 64\n"
              ".file 1 \"a.cu\"\n.shared .align 8 .b8 both[1024];\n.extern .shared .align 16 .b8 dynamic[];\n"
              ".global .align 4 .u32 table[2] = {1, 2};\n"
              ".func (.param .b32 r) helper(.param .b32 x);\n"
              ".func (.param .b32 r) helper(.param .b32 x)\n{\n\tret; /* } */\n}\n"
              ".visible .entry first(.param .u64 .ptr .global .align 1 first_0, .param .align 8 .b8 first_1[32])\n"
              ".reqntid 64, 2\n.maxnreg 96\n{\n.loc 1 2 3\n.pragma \"nounroll; }\";\nmov.u32 %r1, both;\n"
              "mov.u32 %r2, both;\nret;\n}\n"
              ".entry second()\n.maxntid 128, 1, 1\n.minnctapersm 3\n{\n.shared .f32 own[4][4];\nret;\n}\n"
              ".section .debug_str\n{\n.b8 1\n}\n",
              &file);
    ck_assert_uint_eq(file.entry_count, 2);
    ck_assert_uint_eq(file.function_count, 1);
    ck_assert_uint_eq(file.arch, 120);
    ck_assert_uint_eq(file.version_major, 8);
    ck_assert_uint_eq(file.version_minor, 4);
    const struct code_listing *first = ptx_file_entry(&file, "first"), *second = ptx_file_entry(&file, "second");
    ck_assert(first != NULL && second != NULL && ptx_file_entry(&file, "third") == NULL);
    ck_assert_uint_eq(first->threads, 128);
    ck_assert(first->threads_exact && first->arch_suffix == 'a' && !first->truncated);
    ck_assert_uint_eq(first->max_registers, 96);
    ck_assert_uint_eq(first->parameter_count, 2);
    ck_assert_str_eq(first->parameters[1], "first_1");
    ck_assert_uint_eq(first->count, 3);
    ck_assert_uint_eq(first->items[2].line, 22);
    ck_assert_uint_eq(first->static_smem_bytes, 1024); /* named twice, there once */
    ck_assert_uint_eq(second->static_smem_bytes, 64);
    ck_assert(!second->threads_exact);
    ck_assert_uint_eq(second->threads, 128);
    ck_assert_uint_eq(second->min_ctas_per_sm, 3);
    ptx_file_release(&file);
}
END_TEST

static const struct wrong {
    const char *text, *message;
    unsigned line;
} wrongs[] = {
    {"", "not PTX", 1},
    {"\x7f"
     "ELF",
     "expected a PTX directive", 1},
    {"{\"name\": 1}", "expected a PTX directive", 1},
    {".version 8.0\n.target sm_90\n", "no kernel", 3},
    {".target sm_90\n.entry k(){ret;}", "without .version", 2},
    {".version 8.0\n.entry k(){ret;}", "without .target", 2},
    {".version x\n", "no number", 1},
    {".version 8.0\n.target gfx90a\n", "sm_NN", 2},
    {KERNEL "bra NOWHERE;\n}\n", "nowhere", 5},
    {KERNEL "{ IN: }\nbra IN;\n}\n", "nowhere", 6},
    {KERNEL ".reg .b32 ^;\n}\n", "registers", 5},
    {KERNEL ".shared .b8 x[-1];\n}\n", "variable", 5},
    {KERNEL ".shared .b8 x[0x7fffffffffffffff], y[0x7fffffffffffffff], z[2];\n}\n", "beyond all bounds", 5},
    {HEAD ".entry k(.param .u32 ;)\n{\n}\n", "parameters", 3},
    {HEAD ".entry k()\n.reqntid x\n{\n}\n", "no number", 4},
    {KERNEL "@ add.s32 %r1, %r1, 1;\n}\n", NULL, 0},
};

START_TEST(wrong_text_is_told_with_its_line)
{
    struct ptx_file file;
    struct error error = {0};
    const enum status status = ptx_listing_read(wrongs[_i].text, strlen(wrongs[_i].text), "k.ptx", &file, &error);
    if (wrongs[_i].message == NULL) { /* a guard called add.s32: odd, counted */
        ck_assert_int_eq(status, STATUS_OK);
        ck_assert_uint_ge(file.entries[0].unknown_count, 1);
    } else {
        ck_assert_msg(status == STATUS_BAD_DATA, "%s gives %s", wrongs[_i].text, status_name(status));
        ck_assert_msg(strstr(error.text, wrongs[_i].message) != NULL, "%s", error.text);
        ck_assert_uint_eq(error.line, wrongs[_i].line);
        ck_assert_str_eq(error.file, "k.ptx");
        ck_assert_ptr_null(file.entries);
    }
    ptx_file_release(&file);
}
END_TEST

START_TEST(limits_are_told)
{
    struct ptx_file file;
    struct error error = {0};
    struct text_buffer text = {0};
    text_buffer_append(&text, KERNEL);
    for (int i = 0; i < PTX_SCOPES_MAX; i++) {
        text_buffer_append(&text, "{");
    }
    ck_assert_int_eq(ptx_listing_read(text.text, text.length, "k.ptx", &file, &error), STATUS_LIMIT);
    text_buffer_clear(&text);
    text_buffer_append(&text, HEAD);
    for (int i = 0; i <= PTX_ENTRIES_MAX; i++) {
        text_buffer_append(&text, ".entry k(){ret;}");
    }
    ck_assert_int_eq(ptx_listing_read(text.text, text.length, "k.ptx", &file, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "16384"));
    text_buffer_release(&text);
}
END_TEST

/* Two kernels that are too long together: the second is given as far as the limit goes. */
START_TEST(instructions_are_limited)
{
    enum {
        FIRST = PTX_INSTRUCTIONS_MAX - 100
    };
    struct ptx_file file;
    struct text_buffer text = {0};
    text_buffer_append(&text, HEAD ".entry a(){");
    for (int i = 0; i < FIRST; i++) {
        text_buffer_append(&text, "ret;");
    }
    text_buffer_append(&text, "}\n.entry b(){ A: ");
    for (int i = 0; i < 200; i++) {
        text_buffer_append(&text, "ret;");
    }
    text_buffer_append(&text, "bra A; B: ret;}\n");
    ck_assert(!text.failed);
    read_text(text.text, &file);
    ck_assert_uint_eq(file.entries[0].count, FIRST);
    ck_assert(!file.entries[0].truncated && file.entries[1].truncated);
    ck_assert_uint_eq(file.entries[1].count, 100);
    ck_assert_ptr_nonnull(strstr(file.entries[1].note, "only the first"));
    ptx_file_release(&file);
    text_buffer_release(&text);
}
END_TEST

START_TEST(what_is_unknown_is_counted)
{
    struct ptx_file file;
    const struct code_listing *listing = read_body("frob.b32 %r1, %r2; add.s32 %r1 %r2, 3; ^; ret;", &file);
    ck_assert_uint_eq(listing->unknown_count, 3);
    ck_assert_int_eq(listing->items[0].op, CODE_OP_OTHER);
    ptx_file_release(&file);
}
END_TEST

/* Cut anywhere: an error with a text, or the part that is there, marked. */
START_TEST(text_cut_at_every_length)
{
    char *text;
    size_t length;
    struct error error = {0};
    ck_assert_int_eq(file_read_text("tests/fuzz/corpus/ptx/loop", 1 << 20, &text, &length, &error), STATUS_OK);
    size_t parts = 0, last_count = 0;
    for (size_t cut = 0; cut < length; cut++) {
        struct ptx_file file;
        char *exact = malloc(cut + 1); /* nothing behind the cut may be read */
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, text, cut);
        char *block = realloc(exact, cut > 0 ? cut : 1);
        ck_assert_ptr_nonnull(block);
        memset(&error, 0, sizeof error);
        const enum status status = ptx_listing_read(block, cut, "k.ptx", &file, &error);
        if (status == STATUS_OK) {
            const bool whole = strspn(text + cut, " \n") == length - cut; /* only the space at the end is missing */
            ck_assert_msg(file.truncated != whole && file.entries[0].truncated != whole, "cut at %zu", cut);
            ck_assert_uint_ge(file.entries[0].count, last_count);
            last_count = file.entries[0].count;
            parts++;
        } else {
            ck_assert_int_eq(status, STATUS_BAD_DATA);
            ck_assert_str_ne(error.text, "");
        }
        ptx_file_release(&file);
        free(block);
    }
    ck_assert_uint_gt(parts, length / 2);
    free(text);
}
END_TEST

/* 16 MB: as many instructions as were written, the last as right as the first. */
START_TEST(a_large_text)
{
    enum {
        COPIES = 40000
    };
    struct text_buffer text = {0};
    struct ptx_file file;
    text_buffer_append(&text, KERNEL ".reg .b32 %r<100>;\n");
    for (int i = 0; i < COPIES; i++) {
        text_buffer_append_format(&text,
                                  "L%d:\n{ .reg .pred p; .reg .b32 t<3>;\nadd.s32 t1, %%r%d, %d; // comment\n"
                                  "setp.lt.s32 p, t1, %%r1; /* another */ @p bra L%d;\n}\n"
                                  "ld.global.v4.b32 {%%a%d, %%b%d, %%r3, %%r4}, [%%rd%d+%d];\n",
                                  i, i % 100, i, i / 2, i, i, i, 16 * i);
    }
    text_buffer_append(&text, "ret;\n}\n");
    ck_assert(!text.failed);
    read_text(text.text, &file);
    const struct code_listing *listing = &file.entries[0];
    ck_assert_uint_eq(listing->count, 4 * COPIES + 1);
    ck_assert_uint_eq(listing->unknown_count, 0);
    const struct code_instruction *last = &listing->items[4 * COPIES - 1];
    ck_assert_int_eq(last->address_offset, 16 * (COPIES - 1));
    ck_assert_uint_eq(listing->items[4 * COPIES - 2].target, 4 * ((COPIES - 1) / 2));
    text_buffer_release(&text);
    ptx_file_release(&file);
}
END_TEST

Suite *suite_ptx_listing(void);
Suite *suite_ptx_listing(void)
{
    Suite *suite = suite_create("ptx_listing");
    TCase *instructions = tcase_create("instructions"), *files = tcase_create("files");
    tcase_add_loop_test(instructions, instructions_mean_what_the_isa_says, 0,
                        (int)(sizeof meanings / sizeof *meanings));
    tcase_add_loop_test(instructions, products_have_shape_and_type, 0, (int)(sizeof shapes / sizeof *shapes));
    tcase_add_loop_test(instructions, literals_are_kept, 0, (int)(sizeof literals / sizeof *literals));
    tcase_add_test(instructions, waits_have_a_depth);
    tcase_add_test(instructions, guards_offsets_and_special_registers);
    tcase_add_test(instructions, generic_addresses_follow_their_origin);
    tcase_add_test(instructions, names_of_inline_assembly_are_their_own);
    tcase_add_test(instructions, an_inner_range_hides_the_outer_one);
    tcase_add_test(instructions, indirect_branches_have_their_list);
    tcase_set_timeout(files, 60);
    tcase_add_test(files, a_file_of_several_kernels);
    tcase_add_loop_test(files, wrong_text_is_told_with_its_line, 0, (int)(sizeof wrongs / sizeof *wrongs));
    tcase_add_test(files, limits_are_told);
    tcase_add_test(files, instructions_are_limited);
    tcase_add_test(files, what_is_unknown_is_counted);
    tcase_add_test(files, text_cut_at_every_length);
    tcase_add_test(files, a_large_text);
    suite_add_tcase(suite, instructions);
    suite_add_tcase(suite, files);
    return suite;
}
