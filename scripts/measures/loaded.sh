# Makes a database of many customers. A run loads it once and keeps it as a template. Each measure that needs many
# customers takes a copy.
# shellcheck shell=bash

# loaded_database NAME CUSTOMERS DUE LATER: makes a database with that number of customers. The grants of the first
# DUE end after the load, and those of the next LATER a second later. Unless $loaded_tickets is 0, each grant has
# one of that many tickets. Unless $loaded_people is empty, people gave that many of the grants. If $loaded_shop is
# yes, the shop of the minted evidence is set up first, because applying its catalog to many customers takes
# minutes. Sets $DEED_DATABASE_URL, $admin_key and $loaded_ends, the instant at which the first grants end.
loaded_database() {
    local template strategy=()
    template=$(loaded_template "$2" "$3" "$4")
    [ -f "$scratch/$template" ] || load_template "$template" "$2" "$3" "$4"
    read -r admin_key loaded_ends <"$scratch/$template"
    # Before PostgreSQL 15, copying files is the only way. Later, it is the faster way.
    if "$postgres_programs/createdb" --help | grep -q -e --strategy; then strategy=(--strategy=file_copy); fi
    "$postgres_programs/createdb" -h "$scratch" -U deed -T "$template" ${strategy[@]+"${strategy[@]}"} "$1"
    DEED_DATABASE_URL=$(database_url "$1")
    # Another copy's log may be longer, and Deed refuses a log without events that it has seen.
    rm -rf "$DEED_DATA_DIR"
}

# loaded_template CUSTOMERS DUE LATER: prints the name of the template with these customers.
loaded_template() { printf '%s' "loaded_$1_$2_$3_$loaded_tickets${loaded_people:+_$loaded_people}_$loaded_shop"; }

drop_database() { "$postgres_programs/dropdb" -h "$scratch" -U deed "$1"; }

loaded_sql() { "$postgres_programs/psql" -q -X -At -v ON_ERROR_STOP=1 -h "$scratch" -U deed "$@"; }

load_template() {
    local key ends
    say "loading $2 customers"
    "$postgres_programs/createdb" -h "$scratch" -U deed "$1"
    DEED_DATABASE_URL=$(database_url "$1")
    "$programs/deed" migrate >/dev/null
    "$programs/deed" project create default >/dev/null
    key=$("$programs/deed" key create --role admin --json | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
    if [ "$loaded_shop" = yes ]; then set_up_shop; fi
    # Deed publishes boundaries only from the time at which it first reads the clock.
    "$programs/deed" reconcile --only boundaries >/dev/null
    ends=$((${EPOCHREALTIME/[.,]/} / 1000 + 2000))
    copy_customers "$1" "$2" "$3" "$4" "$ends"
    "$programs/deed" audit >/dev/null || fail "the audit finds faults in the loaded log"
    if [ "$2" -le 200000 ]; then
        "$programs/deed" audit --projections >/dev/null || fail "the audit finds faults in the loaded rows"
    fi
    printf '%s %s\n' "$key" "$ends" >"$scratch/$1"
}

# copy_customers DATABASE CUSTOMERS DUE LATER ENDS: loads the customers with COPY, and then creates the indexes.
copy_customers() {
    local events=$scratch/events.pipe rows=$scratch/rows.pipe grants=$scratch/grants.pipe readers=() reader
    loaded_sql "$1" >"$scratch/indexes.drop" <<'SQL'
select format('alter table %s drop constraint %I;', conrelid::regclass, conname) from pg_constraint
where conrelid in ('deed.events'::regclass, 'deed.customers'::regclass, 'deed.customer_grants'::regclass) and contype in ('p', 'u');
select format('drop index deed.%I;', indexname) from pg_indexes where schemaname = 'deed'
    and tablename in ('events', 'customers', 'customer_grants')
    and indexname not in (select conname from pg_constraint where contype in ('p', 'u'));
SQL
    loaded_sql "$1" >"$scratch/indexes.make" <<'SQL'
select format('alter table %s add constraint %I %s;', conrelid::regclass, conname, pg_get_constraintdef(oid))
from pg_constraint
where conrelid in ('deed.events'::regclass, 'deed.customers'::regclass, 'deed.customer_grants'::regclass) and contype in ('p', 'u');
select indexdef || ';' from pg_indexes where schemaname = 'deed' and tablename in ('events', 'customers', 'customer_grants')
    and indexname not in (select conname from pg_constraint where contype in ('p', 'u'));
SQL
    loaded_sql -f "$scratch/indexes.drop" "$1"
    mkfifo "$events" "$rows" "$grants"
    loaded_sql -c "\\copy deed.events (shard, seq, project, environment, customer, version, type, payload, digest, chain, occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence, format) from '$events'" "$1" &
    readers+=($!)
    loaded_sql -c "\\copy deed.customers (shard, project, environment, customer, version, catalog_version, runs, next_boundary_at, app_transactions, answer_by, inquiry_at) from '$rows'" "$1" &
    readers+=($!)
    loaded_sql -c "\\copy deed.customer_grants (shard, project, environment, customer, grant_id, entitlement, starts_at, ends_at, reason, ticket, given_at, given_by, revoked_at, revoked_by, revoked_because, revoked_ticket, after_current) from '$grants'" "$1" &
    readers+=($!)
    owned_processes+=("${readers[@]}")
    "$programs/deed-bench" load --customers "$2" --due "$3" --later "$4" --ends "$5" --tickets "$loaded_tickets" --people "${loaded_people:-0}" \
        --events "$events" --rows "$rows" --grants "$grants" >"$scratch/heads.sql" || fail "the customers were not written"
    for reader in "${readers[@]}"; do wait "$reader" || fail "the customers were not copied"; done
    rm "$events" "$rows" "$grants"
    loaded_sql -c "set maintenance_work_mem = '1GB'" -f "$scratch/indexes.make" -f "$scratch/heads.sql" \
        -c "vacuum analyze" "$1"
}
