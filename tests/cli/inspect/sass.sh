# SPDX-License-Identifier: GPL-3.0-or-later
# SASS does not say its threads: a loop of the CTA only where the warps are told.
cat > "$SCRATCH/k.sass" << 'END'
	code for sm_90a
		Function : k
        /*0000*/                   MOV R2, RZ ;
        /*0010*/                   LDG.E.128 R4, desc[UR4][R8.64] ;
        /*0020*/                   FADD R5, R4, R5 ;
        /*0030*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0040*/                   IADD3 R8, R8, 0x10, RZ ;
        /*0050*/                   ISETP.GE.AND P0, PT, R2, 0x40, PT ;
        /*0060*/               @!P0 BRA 0x10 ;
        /*0070*/                   STG.E desc[UR4][R10.64], R5 ;
        /*0080*/                   EXIT ;
        /*0090*/                   BRA 0x90;
		..........
END
cd "$SCRATCH"
"$OCCAM" inspect k.sass
"$OCCAM" inspect k.sass --warps 4 | sed -n '/the CTA/,$p'
# All its bounds are literals: how often it turns is not asked.
"$OCCAM" inspect k.sass --warps 4 --as scenario | sed -n '/^workload/,$p'
