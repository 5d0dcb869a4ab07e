# SPDX-License-Identifier: GPL-3.0-or-later
# Reads one HTML report: every tag is closed in order, every id is there once and every reference has one, nothing is
# loaded from elsewhere. Prints what is wrong, then the number of figures.
BEGIN { RS = ">" } # a tag ends each record, so that a large page is read in one go
function attribute(tag, name, quote,    at, rest) {
    at = index(tag, " " name "=" quote)
    if (!at) return ""
    rest = substr(tag, at + length(name) + 3)
    return substr(rest, 1, index(rest, quote) - 1)
}
/@import|url\([^#]/ { print "the style loads something" }
{
    start = index($0, "<")
    if (!start) {
        if ($0 !~ /^[ \n]*$/) print "text with no tag behind it: " substr($0, 1, 40)
        next
    }
    tag = substr($0, start) ">"
    if (tag ~ /^<!DOCTYPE html>$/) next
    if (index(substr(tag, 2), "<")) print "a tag has no end: " substr(tag, 1, 40)
    name = tag
    sub(/^<\/?/, "", name)
    sub(/[ \t\n\/>].*$/, "", name)
    if (tag ~ /^<\//) {
        if (stack[depth] != name) print "</" name "> closes <" stack[depth] ">"
        depth--
        next
    }
    for (q = 1; q <= 2; q++) {
        id = attribute(tag, "id", substr("\"'", q, 1))
        if (id != "" && seen[id]++) print "id " id " is there twice"
    }
    for (q = 1; q <= 2; q++) {
        to = attribute(tag, "href", substr("\"'", q, 1))
        if (to ~ /^#/) wanted[substr(to, 2)] = 1
        else if (to != "" && to !~ /^data:/) print "points elsewhere: " to
    }
    if (attribute(tag, "src", "\"") != "") print "loads " tag
    if (name == "script" || name == "iframe" || name == "img" || tag ~ /[ \n]on[a-z]+=/) print "active: " tag
    if (name == "figure") figures++
    if (tag !~ /\/>$/) stack[++depth] = name
}
END {
    if (depth > 0) print "<" stack[depth] "> is not closed"
    for (id in wanted) if (!seen[id]) print "nothing has the id " id
    print figures + 0 " figures"
}
