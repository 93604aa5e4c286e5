# Compares others' writes with and without customers with many events, who write once a second.
# shellcheck shell=bash

measure_long() {
    local figure
    say "giving $long_customers customers $long_events events each"
    long_calls fill "$long_customers" "$long_events"
    long_calls load 0 100 5 warm >/dev/null
    long_calls load 0 100 "$long_seconds" without >"$scratch/long.without"
    # After the restart, none of these customers is in memory.
    stop_server
    start_server
    long_calls load "$long_customers" 100 "$long_seconds" with >"$scratch/long.with"
    for figure in 1:p50 2:p99; do
        paste -d' ' <(cut -d' ' -f"${figure%:*}" "$scratch/long.with") \
            <(cut -d' ' -f"${figure%:*}" "$scratch/long.without") >"$scratch/long.others"
        note_multiple "long.others.${figure#*:}" ms 1.5 "$scratch/long.others"
    done
    cut -d' ' -f3 "$scratch/long.with" >"$scratch/long.own"
    note_limit long.own.p50 ms 20 "$scratch/long.own"
    cut -d' ' -f5 "$scratch/long.with" >"$scratch/long.again"
    note_limit long.repeated.p50 ms 20 "$scratch/long.again"
}

long_calls() { python3 "$root/scripts/measures/long.py" "$1" "$port" "$admin_key" "${@:2}" || fail "the load failed"; }
