# SPDX-License-Identifier: GPL-3.0-or-later
# What PTX does not show of spills: told by the compiler, or what of the frame PTX did not ask for; else unknown.
cd "$SCRATCH" || exit 1
listing() # DEPOT-BYTES
{
    echo '.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .maxntid 128, 1, 1
{'
    [ "$1" = 0 ] || echo ".local .align 16 .b8 __local_depot0[$1];"
    echo '.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;
L: ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f2, %f1; add.s64 %rd1, %rd1, 4096; add.s32 %r1, %r1, 1;
setp.lt.s32 %p1, %r1, 64; @%p1 bra L;
st.global.f32 [%rd1], %f2; ret;
}'
}
log()
{
    printf 'ptxas info    : Compiling entry function '"'k'"' for '"'sm_90a'"'\nptxas info    : Function properties for k\n'
    printf '    %s bytes stack frame, %s bytes spill stores, %s bytes spill loads\nptxas info    : Used 32 registers\n' "$1" "$2" "$3"
}
figures() { awk -F, '/^kernel/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
                     !/^#/ { print $2 ": frame", ("stack_bytes" in at ? $(at["stack_bytes"]) : "-") ", spills \"" $(at["loop.spill_bytes"]) "\"" }'; }
shown() # TITLE
{
    printf '%s, ' "$1"
    "$OCCAM" inspect k --as loops --warps 4 | figures
    rm -r k
}
begin() { mkdir k; listing "$1" > k/k.ptx; }
begin 0; shown 'nothing told'
begin 4096; log 4096 0 0 > k/k.log; shown 'an array in the frame'
begin 0; log 64 16 40 > k/k.log; shown 'spills'
"$OCCAM" inspect "$OLDPWD/tests/recorded/triton-3.6-cache" --arch sm_90 --as loops | figures | cut -c1-4,53-
