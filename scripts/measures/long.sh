# Compares other customers' writes in three cases: alone, beside customers with many events who write once a second,
# and beside as many customers with few events.
# shellcheck shell=bash

long_rounds=3

measure_long() {
    local round kind
    say "giving $long_customers customers $long_events events each"
    long_calls fill "$long_customers" "$long_events"
    # After the restart, memory contains none of these customers.
    stop_server
    start_server
    long_calls load "$long_customers" 100 10 cold long >"$scratch/long.cold"
    long_calls load "$long_customers" 100 10 cold short >/dev/null
    for ((round = 1; round <= long_rounds; round++)); do
        long_calls load 0 100 "$long_seconds" "without-$round" none >>"$scratch/long.without"
        long_calls load "$long_customers" 100 "$long_seconds" "short-$round" short >>"$scratch/long.short"
        long_calls load "$long_customers" 100 "$long_seconds" "with-$round" long >>"$scratch/long.with"
    done
    for kind in without short; do
        compare_others "$kind" p50 1
        compare_others "$kind" p99 2
    done
    cut -d' ' -f2 "$scratch/long.cold" >"$scratch/long.others.first"
    note_limit long.others.first.p99 ms - "$scratch/long.others.first"
    cut -d' ' -f3 "$scratch/long.cold" >"$scratch/long.first"
    note_limit long.own.first.p50 ms - "$scratch/long.first"
    cut -d' ' -f3 "$scratch/long.with" >"$scratch/long.own"
    note_limit long.own.p50 ms 20 "$scratch/long.own"
    cut -d' ' -f5 "$scratch/long.with" >"$scratch/long.again"
    note_limit long.repeated.p50 ms 20 "$scratch/long.again"
    cut -d' ' -f7 "$scratch/long.with" >"$scratch/long.reads"
    note_limit long.read.p50 ms 10 "$scratch/long.reads"
    loaded_sql deed >"$scratch/long.ended" <<'SQL'
select recorded_at - occurred_at from deed.events where type = 'access.ended' and starts_with(customer, 'long-')
SQL
    [ -s "$scratch/long.ended" ] || fail "no end was published"
    note_limit long.ended ms 1000 "$scratch/long.ended"
}

# compare_others KIND FIGURE COLUMN
compare_others() {
    paste -d' ' <(cut -d' ' -f"$3" "$scratch/long.with") <(cut -d' ' -f"$3" "$scratch/long.$1") >"$scratch/long.$1.$2"
    note_multiple "long.others.$1.$2" ms 1.5 "$scratch/long.$1.$2"
}

long_calls() { python3 "$root/scripts/measures/long.py" "$1" "$port" "$admin_key" "${@:2}" || fail "the load failed"; }
