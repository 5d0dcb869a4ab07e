# SPDX-License-Identifier: GPL-3.0-or-later
# glob_match.awk EXPECTED ACTUAL: line by line; * in an expected line stands for any text, a line "..." for any number of
# lines. Prints the first line that does not match and exits 1.
function to_regex(line, i, c, out) {
    out = "^"
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "*")
            out = out ".*"
        else if (c ~ /[][\\.^$+?(){}|\/]/)
            out = out "\\" c
        else
            out = out c
    }
    return out "$"
}
NR == FNR && FILENAME == ARGV[1] { expected[++expected_count] = $0; next }
{ actual[++actual_count] = $0 }
END {
    # Dynamic programming over (expected line, actual line), so that "..." may stand anywhere.
    reach[0, 0] = 1
    for (i = 1; i <= expected_count; i++) {
        any = expected[i] == "..."
        pattern = to_regex(expected[i])
        for (j = 0; j <= actual_count; j++) {
            if (any)
                reach[i, j] = reach[i - 1, j] || (j > 0 && reach[i, j - 1])
            else
                reach[i, j] = j > 0 && reach[i - 1, j - 1] && actual[j] ~ pattern
            if (reach[i, j] && i > furthest) { furthest = i; furthest_actual = j }
        }
    }
    if (reach[expected_count, actual_count])
        exit 0
    if (furthest < expected_count) {
        print "expected line " furthest + 1 ": " expected[furthest + 1]
        print "no line from actual line " furthest_actual + 1 " on fits: " actual[furthest_actual + 1]
    } else
        print "more lines than expected, from: " actual[furthest_actual + 1]
    exit 1
}
