# SPDX-License-Identifier: GPL-3.0-or-later
# 360 configurations of a Triton matrix product on an H200: SMEM to the byte where Triton launched it, and no other
# configuration is taken to run than those.
"$OCCAM" sweep triton-gemm --top 1000 --format csv |
    awk -F, '
        FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME == "-" ? "of " $i : $i] = i; next }
        FILENAME == "-" {
            key = ""
            for (i = 1; i <= knobs; i++) key = key " " $(column["of knobs." knob[i]])
            smem[key] = $(column["of smem_bytes"])
        }
        FILENAME != "-" && $(column["M"]) == 4096 {
            key = ""
            for (i = 1; i <= knobs; i++) key = key " " $(column[knob[i]])
            ran = $(column["outcome"]) == "ok"
            count[ran (key in smem)]++
            same += ran && smem[key] == $(column["smem_bytes"])
        }
        END {
            print count["11"] + 0, "ran and are listed,", same + 0, "with the same SMEM"
            print count["00"] + 0, "were refused and are not listed"
            print count["10"] + count["01"] + 0, "otherwise"
        }
        BEGIN { knobs = split("BM BN BK num_warps num_stages", knob, " ") }' - data/measurements/nvidia-h200/triton_gemm.csv
