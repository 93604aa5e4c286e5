# Compares the nightly publishing of the due boundaries of many customers, one shard and two at a
# time, with plain batched appends of the same rows to the same tables. Measures its memory, and
# cached reads while the service publishes, alone and beside a run.
# shellcheck shell=bash

measure_night() {
    local key=$admin_key url=$DEED_DATABASE_URL stored
    stop_server
    for stored in "$night_few" "$night_many"; do night_of "$stored"; done
    # Stored customers without a due boundary must not affect the time.
    awk -v few="$(<"$scratch/night.$night_few.seconds")" -v many="$(<"$scratch/night.$night_many.seconds")" \
        'BEGIN { print many / few }' >"$scratch/night.growth"
    for stored in "$night_few" "$night_many"; do
        note_rounds "night.of_$stored.one" 1/s - "$scratch/night.$stored.1.rate"
        note_rounds "night.of_$stored" 1/s 0.5 "$scratch/night.$stored.rate"
    done
    note_limit night.seconds s 60 "$scratch/night.$night_many.seconds"
    note_limit night.growth times 1.5 "$scratch/night.growth"
    note_limit night.memory MB 300 "$scratch/night.$night_many.memory"
    note_limit night.read.p99 times 3 "$scratch/night.$night_many.p99"
    note_limit night.read.p99.run times - "$scratch/night.$night_many.p99.run"
    admin_key=$key DEED_DATABASE_URL=$url
    start_server
}

# night_of STORED: publishes the due boundaries among that number of customers.
night_of() {
    local plain template
    template=$(loaded_template "$1" "$night_due" "$night_later")
    say "publishing $night_due boundaries of $1 customers"
    loaded_database night "$1" "$night_due" "$night_later"
    publish_due "$1" 1
    plain=$(append_plain "$1")
    awk -v due="$night_due" -v seconds="$(<"$scratch/night.$1.seconds")" -v plain="$plain" \
        'BEGIN { print due / seconds, due / plain }' >"$scratch/night.$1.1.rate"
    read_meanwhile "$1"
    drop_database night
    loaded_database night "$1" "$night_due" "$night_later"
    publish_due "$1" 2
    awk -v due="$night_due" -v seconds="$(<"$scratch/night.$1.seconds")" -v plain="$plain" \
        'BEGIN { print due / seconds, due / plain }' >"$scratch/night.$1.rate"
    read_meanwhile "$1" run
    drop_database night
    drop_database "$template"
    rm "$scratch/$template"
}

# publish_due STORED PARALLEL: publishes as of the instant at which the first grants end.
publish_due() {
    local run peak=0 memory found seconds
    reconcile_boundaries --parallel "$2" --json >"$scratch/night.json" &
    run=$!
    owned_processes+=("$run")
    while kill -0 "$run" 2>/dev/null; do
        memory=$(awk '/^VmHWM:/ { print $2 / 1024 }' "/proc/$run/status" 2>/dev/null) || true
        peak=${memory:-$peak}
        sleep 0.2
    done
    wait "$run" || fail "the reconciliation failed: $(<"$scratch/night.json")"
    found=$(sed -n 's/.*"mended":\([0-9]*\).*/\1/p' "$scratch/night.json")
    seconds=$(sed -n 's/.*"seconds":\([0-9.]*\).*/\1/p' "$scratch/night.json")
    [ "$found" -eq "$night_due" ] || fail "$found boundaries were published, not $night_due"
    printf '%s\n' "$seconds" >"$scratch/night.$1.seconds"
    printf '%s\n' "$peak" >"$scratch/night.$1.memory"
}

reconcile_boundaries() {
    exec "$programs/deed" reconcile --only boundaries "$@" \
        --now "$(date -u -d "@$((loaded_ends / 1000)).$(printf %03d $((loaded_ends % 1000)))" +%Y-%m-%dT%H:%M:%S.%3NZ)"
}

# append_plain STORED: appends the rows just written to another copy of the same tables, in batches of
# the same size, and prints the seconds. The database works alone, so that a client costs nothing.
append_plain() {
    loaded_database plain "$1" "$night_due" "$night_later"
    loaded_sql -c "create table plain_rows as select 0::bigint as place, e.* from deed.events as e limit 0" plain
    loaded_sql -c "\\copy (select row_number() over (order by shard, seq), e.* from deed.events as e where type = 'access.ended') to pstdout binary" night |
        loaded_sql -c "\\copy plain_rows from pstdin binary" plain
    loaded_sql plain <<'SQL' | tail -n 1
alter table plain_rows add primary key (place);
vacuum analyze plain_rows;
checkpoint;
create table plain_time (started timestamptz, ended timestamptz);
insert into plain_time values (clock_timestamp());
do $$
declare
    done bigint := 0;
    total constant bigint := (select count(*) from plain_rows);
begin
    while done < total loop
        insert into deed.events (shard, seq, project, environment, customer, version, type, payload, digest,
            chain, occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence, format)
        select shard, seq, project, environment, customer, version, type, payload, digest, chain, occurred_at,
            recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence, format
        from plain_rows where place > done and place <= done + 500;
        update deed.customers as c set version = r.version, next_boundary_at = null
        from plain_rows as r
        where r.place > done and r.place <= done + 500 and c.shard = r.shard and c.project = r.project
            and c.environment = r.environment and c.customer = r.customer;
        commit;
        done := done + 500;
    end loop;
end $$;
update plain_time set ended = clock_timestamp();
select extract(epoch from ended - started) from plain_time;
SQL
    drop_database plain
}

# read_meanwhile STORED [run]: measures cached reads while the service publishes the later boundaries, by itself or
# beside a run, and afterwards.
read_meanwhile() {
    local round run='' meanwhile=$scratch/night.meanwhile after=$scratch/night.after rate
    : >"$meanwhile"
    : >"$after"
    loaded_ends=$((loaded_ends + 1000))
    start_server
    if [ -n "${2:-}" ]; then
        reconcile_boundaries >/dev/null &
        run=$!
        owned_processes+=("$run")
    fi
    # The first second loads the answers into memory.
    load read 64 1 "http://127.0.0.1:$port" 10000 >/dev/null
    while is_due; do
        rate=$(load read 64 1 "http://127.0.0.1:$port" 10000)
        printf '%s\n' "${rate#* }" >>"$meanwhile"
    done
    if [ -n "$run" ]; then wait "$run" || fail "the run beside the service failed"; fi
    for ((round = 1; round <= rounds; round++)); do
        rate=$(load read 64 1 "http://127.0.0.1:$port" 10000)
        printf '%s\n' "${rate#* }" >>"$after"
    done
    [ -s "$meanwhile" ] || fail "the service published everything before the first read; raise night_later"
    awk -v meanwhile="$(median "$meanwhile")" -v after="$(median "$after")" \
        'BEGIN { print meanwhile / after }' >"$scratch/night.$1.p99${2:+.$2}"
    stop_server
}

# is_due: succeeds if a due boundary has not been published.
is_due() {
    [ "$(loaded_sql -c "select exists (select from deed.customers where next_boundary_at <= $loaded_ends)" night)" = t ]
}
