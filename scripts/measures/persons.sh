# Measures work about people: pages of the trail with many acts of people among many events; merges
# of a customer with 1,000 purchases, and others' writes and reads meanwhile; and reads while Deed
# records uses of keys. If DEED_BENCH_OTHER has the programs of another build, also compares reads
# of customers who never merged with that build.
# shellcheck shell=bash

persons_purchases=1000
# How many keys a round uses for the first time. The round lasts long enough for Deed to record these uses.
persons_keys=20 persons_use_seconds=6

measure_persons() {
    local key=$admin_key database=$DEED_DATABASE_URL url
    stop_server
    loaded_tickets=$((persons_events / 20)) loaded_people=$persons_acts loaded_shop=yes
    loaded_database persons "$persons_events" 0 0
    loaded_tickets=0 loaded_people=
    mint_evidence "$persons_purchases" --apart yes
    loaded_shop=no
    start_shop
    read_trail
    warm_answers 0 10000
    use_keys
    merge_beside
    "$programs/deed" audit >/dev/null || fail "the audit finds faults in the log"
    stop_server
    drop_database persons
    if [ -n "${DEED_BENCH_OTHER:-}" ]; then read_beside_other; fi
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

read_trail() {
    local kind
    python3 "$root/scripts/measures/persons.py" trail "$port" "$admin_key" "$scratch" "$rounds" \
        "reader-$((persons_events / 2 + 9))" T-9 || fail "the trail was not read"
    for kind in all actor customer ticket action every; do
        note_limit "persons.trail.$kind" ms 50 "$scratch/trail.$kind"
    done
}

# Compares reads with keys not yet used in this hour, whose use Deed records, with later reads with the same keys.
use_keys() {
    local round number with without
    for ((round = 1; round <= rounds; round++)); do
        for ((number = 0; number < persons_keys; number++)); do
            "$programs/deed" key create --role reader --json | sed -n 's/.*"key":"\([^"]*\)".*/\1/p'
        done >"$scratch/keys"
        [ "$(wc -l <"$scratch/keys")" -eq "$persons_keys" ] || fail "the keys were not made"
        # The server reads the new keys from the log.
        sleep 1
        with=$(load keys 64 "$persons_use_seconds" "$url" "$scratch/keys" 10000)
        without=$(load keys 64 "$persons_use_seconds" "$url" "$scratch/keys" 10000)
        printf '%s %s\n' "${with% *}" "${without% *}" >>"$scratch/persons.uses"
    done
    [ "$(loaded_sql -c 'select count(*) from deed.key_uses' persons)" -ge $((rounds * persons_keys)) ] ||
        fail "the uses of the keys were not written"
    note_rounds persons.uses 1/s 0.99 "$scratch/persons.uses"
}

merge_beside() {
    local round alone beside
    python3 "$root/scripts/measures/persons.py" buy "$port" "$admin_key" "$scratch/evidence" "$persons_purchases" ||
        fail "nothing was bought"
    # The first merge of a customer reads data that later merges find in memory.
    python3 "$root/scripts/measures/persons.py" merge "$port" "$admin_key" 0.1 "$scratch/persons.merge" || fail "nothing was merged"
    load grant 32 1 "$url" warm-persons >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        alone=$(load grant 32 "$seconds" "$url" "alone-$round")
        begin_merges
        beside=$(load grant 32 "$seconds" "$url" "beside-$round")
        end_merges
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/persons.writes"
        alone=$(load read 64 "$seconds" "$url" 10000)
        begin_merges
        beside=$(load read 64 "$seconds" "$url" 10000)
        end_merges
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/persons.reads"
    done
    note_limit persons.merge ms 2000 "$scratch/persons.merge"
    note_multiple persons.merge.writes.p99 ms 2 "$scratch/persons.writes"
    note_multiple persons.merge.reads.p99 ms 2 "$scratch/persons.reads"
}

# Merges and undoes merges one after another, as long as the load lasts.
begin_merges() {
    python3 "$root/scripts/measures/persons.py" merge "$port" "$admin_key" $((seconds + 1)) "$scratch/persons.merge" &
    merging=$!
    owned_processes+=("$merging")
    sleep 0.2
}

end_merges() { wait "$merging" || fail "the merges beside the load failed"; }

read_beside_other() {
    local own=$programs data=$DEED_DATA_DIR round
    start_side persons_own "$own" 1
    start_side persons_other "$DEED_BENCH_OTHER" 0
    for ((round = 1; round <= 2 * rounds; round++)); do
        if ((round % 2)); then turn persons_own cached "$round"; turn persons_other cached "$round"
        else turn persons_other cached "$round"; turn persons_own cached "$round"; fi
        paste -d' ' "$scratch/turn.persons_own.cached" "$scratch/turn.persons_other.cached" >>"$scratch/persons.before"
    done
    note_rounds persons.reads.before 1/s 0.98 "$scratch/persons.before"
    stop_sides
    programs=$own DEED_DATA_DIR=$data
}
