# The night: boundaries that are due of many customers, beside plain batched appends of the same rows; the
# memory that it takes; and cached reads while a service publishes as many.
# shellcheck shell=bash

measure_night() {
    local key=$admin_key url=$DEED_DATABASE_URL stored
    stop_server
    for stored in "$night_few" "$night_many"; do night_of "$stored"; done
    # What is stored beside what is due must not count.
    awk -v few="$(<"$scratch/night.$night_few.seconds")" -v many="$(<"$scratch/night.$night_many.seconds")" \
        'BEGIN { print many / few }' >"$scratch/night.growth"
    note_rounds night.boundaries 1/s 0.5 "$scratch/night.$night_many.rate"
    note_limit night.seconds s 60 "$scratch/night.$night_many.seconds"
    note_limit night.growth times 1.5 "$scratch/night.growth"
    note_limit night.memory MB 300 "$scratch/night.$night_many.memory"
    note_limit night.read.p99 times 3 "$scratch/night.$night_many.p99"
    admin_key=$key DEED_DATABASE_URL=$url
    start_server
}

# night_of STORED: fills a database with that number of customers and has the due ones published.
night_of() {
    local stored=$1 name=night$1 ends
    "$postgres_programs/createdb" -h "$scratch" -U deed "$name"
    DEED_DATABASE_URL=$(database_url "$name")
    "$programs/deed" migrate >/dev/null
    "$programs/deed" project create default >/dev/null
    admin_key=$("$programs/deed" key create --role admin --json | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
    # From now on boundaries count.
    "$programs/deed" reconcile --only boundaries >/dev/null
    ends=$((${EPOCHREALTIME/[.,]/} / 1000 + 2000))
    say "loading $stored customers"
    load_customers "$name" "$stored" "$ends"
    "$programs/deed" audit >/dev/null || fail "the log that was loaded is not sound"
    if [ "$stored" -le 100000 ]; then
        "$programs/deed" audit --projections >/dev/null || fail "the rows that were loaded are not sound"
    fi
    publish_due "$stored" "$ends"
    append_plain "$name" "$stored"
    read_meanwhile "$stored"
    "$postgres_programs/dropdb" -h "$scratch" -U deed "$name"
}

night_sql() { "$postgres_programs/psql" -q -X -At -v ON_ERROR_STOP=1 -h "$scratch" -U deed "$@"; }

# load_customers DATABASE CUSTOMERS ENDS: by COPY, the indexes afterwards.
load_customers() {
    local events=$scratch/events.pipe rows=$scratch/rows.pipe readers=()
    night_sql "$1" >"$scratch/indexes.drop" <<'SQL'
select format('alter table %s drop constraint %I;', conrelid::regclass, conname) from pg_constraint
where conrelid in ('deed.events'::regclass, 'deed.customers'::regclass) and contype in ('p', 'u');
select format('drop index deed.%I;', indexname) from pg_indexes where schemaname = 'deed'
    and tablename in ('events', 'customers')
    and indexname not in (select conname from pg_constraint where contype in ('p', 'u'));
SQL
    night_sql "$1" >"$scratch/indexes.make" <<'SQL'
select format('alter table %s add constraint %I %s;', conrelid::regclass, conname, pg_get_constraintdef(oid))
from pg_constraint
where conrelid in ('deed.events'::regclass, 'deed.customers'::regclass) and contype in ('p', 'u');
select indexdef || ';' from pg_indexes where schemaname = 'deed' and tablename in ('events', 'customers')
    and indexname not in (select conname from pg_constraint where contype in ('p', 'u'));
SQL
    night_sql -f "$scratch/indexes.drop" "$1"
    mkfifo "$events" "$rows"
    night_sql -c "\\copy deed.events (shard, seq, project, environment, customer, version, type, payload, digest, chain, occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence) from '$events'" "$1" &
    readers+=($!)
    night_sql -c "\\copy deed.customers (shard, project, environment, customer, version, catalog_version, runs, next_boundary_at, app_transactions, answer_by, inquiry_at) from '$rows'" "$1" &
    readers+=($!)
    owned_processes+=("${readers[@]}")
    "$programs/deed-bench" load --customers "$2" --due "$night_due" --later "$night_later" \
        --ends "$3" --events "$events" --rows "$rows" >"$scratch/heads.sql" || fail "the customers were not written"
    wait "${readers[@]}" || fail "the customers were not copied"
    rm "$events" "$rows"
    night_sql -c "set maintenance_work_mem = '1GB'" -f "$scratch/indexes.make" -f "$scratch/heads.sql" \
        -c "vacuum analyze" "$1"
}

# publish_due STORED ENDS: as of the instant at which the first ones end.
publish_due() {
    local run peak=0 memory found seconds
    "$programs/deed" reconcile --only boundaries --json \
        --now "$(date -u -d "@$(($2 / 1000)).$(printf %03d $(($2 % 1000)))" +%Y-%m-%dT%H:%M:%S.%3NZ)" >"$scratch/night.json" &
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

# append_plain DATABASE STORED: the rows that were just written, once more, in batches of as many; the
# database does it by itself, so that nothing is spent on a client.
append_plain() {
    local seconds
    seconds=$(night_sql "$1" <<'SQL' | tail -n 1
create table plain_events (like deed.events including all);
create table plain_customers (like deed.customers including all);
create table plain_rows as select row_number() over (order by shard, seq) as place, e.*
    from deed.events as e where type = 'access.ended';
alter table plain_rows add primary key (place);
insert into plain_customers select c.* from deed.customers as c
    join plain_rows using (shard, project, environment, customer);
vacuum analyze plain_rows, plain_customers;
create table plain_time (started timestamptz, ended timestamptz);
insert into plain_time values (clock_timestamp());
do $$
declare
    done bigint := 0;
    total constant bigint := (select count(*) from plain_rows);
begin
    while done < total loop
        insert into plain_events (shard, seq, project, environment, customer, version, type, payload, digest,
            chain, occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence)
        select shard, seq, project, environment, customer, version, type, payload, digest, chain, occurred_at,
            recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence
        from plain_rows where place > done and place <= done + 500;
        update plain_customers as c set version = r.version, next_boundary_at = null
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
)
    awk -v due="$night_due" -v seconds="$(<"$scratch/night.$2.seconds")" -v plain="$seconds" \
        'BEGIN { print due / seconds, due / plain }' >"$scratch/night.$2.rate"
}

# read_meanwhile STORED: cached reads while the service publishes what came due later, and afterwards.
read_meanwhile() {
    local round meanwhile=$scratch/night.meanwhile after=$scratch/night.after rate
    : >"$meanwhile"
    : >"$after"
    start_server
    while is_due "night$1"; do
        rate=$(load read 64 1 "http://127.0.0.1:$port" 10000)
        printf '%s\n' "${rate#* }" >>"$meanwhile"
    done
    for ((round = 1; round <= rounds; round++)); do
        rate=$(load read 64 1 "http://127.0.0.1:$port" 10000)
        printf '%s\n' "${rate#* }" >>"$after"
    done
    [ -s "$meanwhile" ] || fail "all was published before anything was read; raise night_later"
    awk -v meanwhile="$(median "$meanwhile")" -v after="$(median "$after")" \
        'BEGIN { print meanwhile / after }' >"$scratch/night.$1.p99"
    stop_server
}

# is_due DATABASE: whether something is due and not published.
is_due() {
    [ "$(night_sql -c "select exists (select from deed.customers where next_boundary_at <= $((${EPOCHREALTIME/[.,]/} / 1000)))" "$1")" = t ]
}
