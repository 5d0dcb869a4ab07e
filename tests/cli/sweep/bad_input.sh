# SPDX-License-Identifier: GPL-3.0-or-later
try()
{
    "$OCCAM" sweep "$@"
    echo "exit $?"
}
try nosuch
try dsv4-flash-sparse-decode --vary TARGET
try dsv4-flash-sparse-decode --vary num_warps,num_warps
try dsv4-flash-sparse-decode --where 'foo > 1'
try dsv4-flash-sparse-decode --where '1 / (C - 96)'
try dsv4-flash-sparse-decode --objective 'throughput@C=x'
try dsv4-flash-sparse-decode --objective 'throughput@=8'
try dsv4-flash-sparse-decode --objective 'throughput@C=0'
try dsv4-flash-sparse-decode --objective 'throughput@C=100001'
try dsv4-flash-sparse-decode --objective throughput --vary C
try dsv4-flash-sparse-decode --objective throughput --device h200
try dsv4-flash-sparse-decode --objective 'throughput@C=8' --by C
try dsv4-flash-sparse-decode --by num_warps
try dsv4-flash-sparse-decode --by C,tokens
try dsv4-flash-sparse-decode --device sm_120
try dsv4-flash-sparse-decode --limit 10
try dsv4-flash-sparse-decode --top 0
try stream-copy --objective throughput
