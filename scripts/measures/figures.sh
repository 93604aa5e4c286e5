# Stores, compares and prints figures. Each has a line in $figures:
# name value unit baseline ratio bar lowest highest standing   (- if there is none)
# shellcheck shell=bash

# note_rounds NAME UNIT BAR FILE: each line of FILE is a round, "value baseline". The round with the median ratio
# counts. BAR is the lowest passing ratio.
note_rounds() { note_ratios least "$@"; }

# note_multiple NAME UNIT BAR FILE: like note_rounds, but BAR is the highest passing ratio.
note_multiple() { note_ratios most "$@"; }

# note_ratios least|most NAME UNIT BAR FILE
note_ratios() {
    awk '{ printf "%.2f %.2f %.4f\n", $1, $2, $1 / $2 }' "$5" | sort -k3,3n | awk \
        -v sense="$1" -v name="$2" -v unit="$3" -v bar="$4" '
        { value[NR] = $1; baseline[NR] = $2; ratio[NR] = $3 }
        END {
            if (NR == 0) exit 1
            at = int((NR + 1) / 2)
            isMet = sense == "least" ? ratio[at] >= bar : ratio[at] <= bar
            standing = bar == "-" ? "-" : isMet ? "met" : "missed"
            print name, value[at], unit, baseline[at], ratio[at], bar, ratio[1], ratio[NR], standing
        }' >>"$figures" || fail "$2 gave no figures"
}

# note_limit NAME UNIT BAR FILE: each line of FILE has a value, and the median counts. BAR is the highest
# passing value. The table also shows the median of a baseline beside the values, which decides nothing.
note_limit() {
    local baseline
    baseline=$(awk 'NF > 1 { print $2 }' "$4" | sort -n |
        awk '{ value[NR] = $1 } END { print NR ? value[int((NR + 1) / 2)] : "-" }') ||
        fail "$1 gave no figures"
    sort -n "$4" | awk -v name="$1" -v unit="$2" -v bar="$3" -v baseline="$baseline" '
        { value[NR] = $1 }
        END {
            if (NR == 0) exit 1
            median = value[int((NR + 1) / 2)]
            ratio = baseline > 0 ? sprintf("%.4f", median / baseline) : "-"
            standing = bar == "-" ? "-" : median <= bar ? "met" : "missed"
            print name, median, unit, baseline, ratio, bar, value[1], value[NR], standing
        }' >>"$figures" || fail "$1 gave no figures"
}

# note_value NAME UNIT FILE: notes the median of the values in FILE, one in each line, without a bar.
note_value() { note_limit "$1" "$2" - "$3"; }

print_table() {
    awk 'BEGIN { print "figure", "value", "unit", "baseline", "ratio", "bar", "lowest", "highest", "standing" } 1' \
        "$figures" | column -t
}

print_json() {
    awk '
        function number(text) { return text == "-" ? "null" : text }
        BEGIN { printf "[" }
        {
            met = $9 == "-" ? "null" : $9 == "met" ? "true" : "false"
            printf "%s\n  {\"name\":\"%s\",\"value\":%s,\"unit\":\"%s\",\"baseline\":%s,\"ratio\":%s,\"bar\":%s,\"met\":%s}",
                (NR > 1 ? "," : ""), $1, $2, $3, number($4), number($5), number($6), met
        }
        END { print "\n]" }' "$figures"
}
