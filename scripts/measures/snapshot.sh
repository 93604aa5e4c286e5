# Compares grants while another session holds an old snapshot, like a dump or an analyst, with grants before that.
# shellcheck shell=bash

measure_snapshot() {
    local url="http://127.0.0.1:$port" hold=$snapshot_seconds started holder window=0
    : >"$scratch/snapshot.before"
    load grant 16 5 "$url" warm-snapshot >/dev/null
    for ((window = 1; window <= 5; window++)); do
        load grant 16 5 "$url" "before-$window" | cut -d' ' -f1 >>"$scratch/snapshot.before"
    done
    local before
    before=$(median "$scratch/snapshot.before")
    "$postgres_programs/psql" -q -X -h "$scratch" -U deed deed >/dev/null <<SQL &
begin isolation level repeatable read;
select count(*) from deed.shards;
select pg_sleep($hold);
commit;
SQL
    holder=$!
    owned_processes+=("$holder")
    started=$SECONDS window=0
    : >"$scratch/snapshot.windows"
    while [ $((SECONDS - started)) -lt $((hold - 5)) ]; do
        window=$((window + 1))
        load grant 16 5 "$url" "held-$window" | cut -d' ' -f1 >>"$scratch/snapshot.windows"
    done
    # Only the last fifth of the time counts, when dead rows have piled up.
    tail -n $(((window + 4) / 5)) "$scratch/snapshot.windows" |
        awk -v before="$before" '{ print $1, before }' >"$scratch/snapshot.held"
    wait "$holder" || fail "the session that held the snapshot failed"
    : >"$scratch/snapshot.after"
    for ((window = 1; window <= 10; window++)); do
        load grant 16 5 "$url" "after-$window" |
            awk -v before="$before" '{ print $1, before }' >>"$scratch/snapshot.after"
    done
    note_rounds snapshot.held 1/s 0.8 "$scratch/snapshot.held"
    tail -n 3 "$scratch/snapshot.after" >"$scratch/snapshot.recovered"
    note_rounds snapshot.recovered 1/s 0.8 "$scratch/snapshot.recovered"
}

median() { sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
