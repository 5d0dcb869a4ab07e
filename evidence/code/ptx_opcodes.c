/* SPDX-License-Identifier: GPL-3.0-or-later
 * Table of PTX mnemonics (PTX ISA 9.0, chapter 9). */
#include "evidence/code/ptx_opcodes.h"

#include <stdlib.h>
#include <string.h>

struct mnemonic_row {
    const char *name;
    enum ptx_kind kind;
};

/* By name, in order: looked up by halving. */
static const struct mnemonic_row rows[] = {
    {"abs", PTX_KIND_ARITHMETIC},
    {"activemask", PTX_KIND_VOTE},
    {"add", PTX_KIND_ARITHMETIC},
    {"addc", PTX_KIND_INTEGER},
    {"alloca", PTX_KIND_OTHER},
    {"and", PTX_KIND_INTEGER},
    {"applypriority", PTX_KIND_NOTHING},
    {"atom", PTX_KIND_ATOMIC},
    {"bar", PTX_KIND_BARRIER},
    {"barrier", PTX_KIND_BARRIER},
    {"bfe", PTX_KIND_INTEGER},
    {"bfi", PTX_KIND_INTEGER},
    {"bfind", PTX_KIND_INTEGER},
    {"bmsk", PTX_KIND_INTEGER},
    {"bra", PTX_KIND_BRANCH},
    {"brev", PTX_KIND_INTEGER},
    {"brkpt", PTX_KIND_NOTHING},
    {"brx", PTX_KIND_BRANCH},
    {"call", PTX_KIND_CALL},
    {"clusterlaunchcontrol", PTX_KIND_NOTHING},
    {"clz", PTX_KIND_INTEGER},
    {"cnot", PTX_KIND_INTEGER},
    {"copysign", PTX_KIND_ARITHMETIC},
    {"cos", PTX_KIND_SPECIAL},
    {"cp", PTX_KIND_COPY},
    {"createpolicy", PTX_KIND_OTHER},
    {"cvt", PTX_KIND_CONVERT},
    {"cvta", PTX_KIND_MOVE},
    {"discard", PTX_KIND_NOTHING},
    {"div", PTX_KIND_DIVIDE},
    {"dp2a", PTX_KIND_INTEGER},
    {"dp4a", PTX_KIND_INTEGER},
    {"elect", PTX_KIND_OTHER},
    {"ex2", PTX_KIND_EXPONENTIAL},
    {"exit", PTX_KIND_LEAVE},
    {"fence", PTX_KIND_FENCE},
    {"fma", PTX_KIND_ARITHMETIC},
    {"fns", PTX_KIND_INTEGER},
    {"getctarank", PTX_KIND_INTEGER},
    {"griddepcontrol", PTX_KIND_NOTHING},
    {"isspacep", PTX_KIND_INTEGER},
    {"istypep", PTX_KIND_INTEGER},
    {"ld", PTX_KIND_LOAD},
    {"ldmatrix", PTX_KIND_MATRIX_MOVE},
    {"ldu", PTX_KIND_LOAD},
    {"lg2", PTX_KIND_SPECIAL},
    {"lop3", PTX_KIND_INTEGER},
    {"mad", PTX_KIND_ARITHMETIC},
    {"mad24", PTX_KIND_INTEGER},
    {"madc", PTX_KIND_INTEGER},
    {"mapa", PTX_KIND_INTEGER},
    {"match", PTX_KIND_VOTE},
    {"max", PTX_KIND_ARITHMETIC},
    {"mbarrier", PTX_KIND_MBARRIER},
    {"membar", PTX_KIND_FENCE},
    {"min", PTX_KIND_ARITHMETIC},
    {"mma", PTX_KIND_MMA},
    {"mov", PTX_KIND_MOV},
    {"movmatrix", PTX_KIND_MOVE},
    {"mul", PTX_KIND_ARITHMETIC},
    {"mul24", PTX_KIND_INTEGER},
    {"multimem", PTX_KIND_MULTIMEM},
    {"nanosleep", PTX_KIND_NOTHING},
    {"neg", PTX_KIND_ARITHMETIC},
    {"not", PTX_KIND_INTEGER},
    {"or", PTX_KIND_INTEGER},
    {"pmevent", PTX_KIND_NOTHING},
    {"popc", PTX_KIND_INTEGER},
    {"prefetch", PTX_KIND_NOTHING},
    {"prefetchu", PTX_KIND_NOTHING},
    {"prmt", PTX_KIND_INTEGER},
    {"rcp", PTX_KIND_SPECIAL},
    {"red", PTX_KIND_ATOMIC},
    {"redux", PTX_KIND_VOTE},
    {"rem", PTX_KIND_INTEGER},
    {"ret", PTX_KIND_LEAVE},
    {"rsqrt", PTX_KIND_SPECIAL},
    {"sad", PTX_KIND_INTEGER},
    {"selp", PTX_KIND_ARITHMETIC},
    {"set", PTX_KIND_ARITHMETIC},
    {"setmaxnreg", PTX_KIND_NOTHING},
    {"setp", PTX_KIND_ARITHMETIC},
    {"shf", PTX_KIND_INTEGER},
    {"shfl", PTX_KIND_SHUFFLE},
    {"shl", PTX_KIND_INTEGER},
    {"shr", PTX_KIND_INTEGER},
    {"sin", PTX_KIND_SPECIAL},
    {"slct", PTX_KIND_ARITHMETIC},
    {"sqrt", PTX_KIND_SPECIAL},
    {"st", PTX_KIND_STORE},
    {"stackrestore", PTX_KIND_NOTHING},
    {"stacksave", PTX_KIND_OTHER},
    {"stmatrix", PTX_KIND_MATRIX_MOVE},
    {"sub", PTX_KIND_ARITHMETIC},
    {"subc", PTX_KIND_INTEGER},
    {"suld", PTX_KIND_OTHER},
    {"suq", PTX_KIND_OTHER},
    {"sured", PTX_KIND_NOTHING},
    {"sust", PTX_KIND_NOTHING},
    {"szext", PTX_KIND_INTEGER},
    {"tanh", PTX_KIND_SPECIAL},
    {"tcgen05", PTX_KIND_TCGEN05},
    {"tensormap", PTX_KIND_NOTHING},
    {"testp", PTX_KIND_ARITHMETIC},
    {"tex", PTX_KIND_OTHER},
    {"tld4", PTX_KIND_OTHER},
    {"trap", PTX_KIND_LEAVE},
    {"txq", PTX_KIND_OTHER},
    {"vabsdiff", PTX_KIND_INTEGER},
    {"vabsdiff2", PTX_KIND_INTEGER},
    {"vabsdiff4", PTX_KIND_INTEGER},
    {"vadd", PTX_KIND_INTEGER},
    {"vadd2", PTX_KIND_INTEGER},
    {"vadd4", PTX_KIND_INTEGER},
    {"vavrg2", PTX_KIND_INTEGER},
    {"vavrg4", PTX_KIND_INTEGER},
    {"vmad", PTX_KIND_INTEGER},
    {"vmax", PTX_KIND_INTEGER},
    {"vmax2", PTX_KIND_INTEGER},
    {"vmax4", PTX_KIND_INTEGER},
    {"vmin", PTX_KIND_INTEGER},
    {"vmin2", PTX_KIND_INTEGER},
    {"vmin4", PTX_KIND_INTEGER},
    {"vote", PTX_KIND_VOTE},
    {"vset", PTX_KIND_INTEGER},
    {"vset2", PTX_KIND_INTEGER},
    {"vset4", PTX_KIND_INTEGER},
    {"vshl", PTX_KIND_INTEGER},
    {"vshr", PTX_KIND_INTEGER},
    {"vsub", PTX_KIND_INTEGER},
    {"vsub2", PTX_KIND_INTEGER},
    {"vsub4", PTX_KIND_INTEGER},
    {"wgmma", PTX_KIND_WGMMA},
    {"wmma", PTX_KIND_WMMA},
    {"xor", PTX_KIND_INTEGER},
};

int ptx_slice_compare(struct ptx_slice slice, const char *text)
{
    const size_t length = strlen(text);
    const size_t common = slice.length < length ? slice.length : length;
    const int order = memcmp(slice.text, text, common);
    return order != 0 ? order : slice.length < length ? -1 : slice.length > length;
}

static int compare_row(const void *key, const void *row)
{
    return ptx_slice_compare(*(const struct ptx_slice *)key, ((const struct mnemonic_row *)row)->name);
}

bool ptx_opcode_find(struct ptx_slice name, enum ptx_kind *kind)
{
    const struct mnemonic_row *row = bsearch(&name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare_row);
    if (row != NULL) {
        *kind = row->kind;
    }
    return row != NULL;
}
