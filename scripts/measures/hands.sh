# Measures support work among many customers: how soon each kind of name leads to a customer while others write, how
# soon a page of grants arrives, and what each index costs writers.
# shellcheck shell=bash

# These customers have one name of each kind. The rows of all other customers look similar.
hands_found=2000

measure_hands() {
    local key=$admin_key database=$DEED_DATABASE_URL url kind
    stop_server
    loaded_tickets=$((hands_customers / 20)) loaded_shop=yes
    loaded_database hands "$hands_customers" 0 0
    loaded_tickets=0
    fill_names
    mint_evidence "$hands_found" --apart yes
    start_shop
    python3 "$root/scripts/measures/hands.py" "$port" "$admin_key" "$scratch/evidence" "$scratch" "$hands_found" ||
        fail "no names to find were made"
    name_the_loaded
    begin_writers
    for kind in customer purchase transaction line_item order token grant ticket event position account; do
        find_beside_writers "$kind" '/v1/find?q=' 30
    done
    find_beside_writers page '/v1/grants?limit=100&ticket=' 100
    end_writers
    for kind in customers_named customer_grants_named customer_grants_given customer_grants_ticket; do
        measure_index "$kind"
    done
    measure_index customers_named customer_grants_named customer_grants_given customer_grants_ticket
    measure_names
    loaded_shop=no
    stop_server
    drop_database hands
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

# Adds the rows that the searches must look through. No event supports them, so the calls do not ask for them.
fill_names() {
    local count=$hands_customers
    say "adding rows with names for $count customers"
    loaded_sql hands <<SQL
insert into deed.holders (project, store, environment, app, original, customer)
select 'default', 'apple', 'production', 'com.example.app', (1000000000000 + n * 7919)::text, 'reader-' || n
from generate_series(1::bigint, $count) as n;
insert into deed.transaction_names (project, environment, store, app, original, transaction_id, customer, line_item)
select 'default', 'production', 'apple', 'com.example.app', (1000000000000 + n * 7919)::text,
    (7000000000000 + n * 7919)::text, 'reader-' || n, (9000000000000 + n * 7919)::text
from generate_series(1::bigint, $count) as n;
insert into deed.order_owners (project, environment, order_id, customer)
select 'default', 'production', 'o_' || md5(n::text), 'reader-' || n from generate_series(1::bigint, $count) as n;
insert into deed.tokens (project, environment, token, customer)
select 'default', 'production', md5(n::text)::uuid::text, 'reader-' || n from generate_series(1::bigint, $count) as n;
update deed.customers set app_transactions = jsonb_build_array('704' || (1000000000000 + version * 7919)::text || customer);
vacuum analyze;
SQL
}

# Gives the loaded customers names.
name_the_loaded() {
    local last=$((hands_customers - 1))
    seq 0 $((last / hands_found + 1)) "$last" | sed 's/^/reader-/' >"$scratch/find.customer"
    seq 0 $((last / hands_found + 1)) "$last" | sed 's/^/g_/' >"$scratch/find.grant"
    seq 0 $((hands_customers / 20 - 1)) | shuf -n "$hands_found" --random-source=/dev/zero | sed 's/^/T-/' >"$scratch/find.ticket"
    cp "$scratch/find.ticket" "$scratch/find.page"
    loaded_sql -c "select shard || ':' || seq from deed.events tablesample system (5) where customer like 'reader-%' limit $hands_found" \
        hands >"$scratch/find.position"
    loaded_sql -c "select shard || '-' || seq || '-' || encode(substring(chain from 1 for 4), 'hex') from deed.events tablesample system (5) where customer like 'reader-%' limit $hands_found" \
        hands >"$scratch/find.event"
}

# Starts thirty-two clients that write continuously until they are stopped.
begin_writers() {
    DEED_BENCH_KEY=$admin_key wrk -t1 -c32 -d3600s --timeout 10s -s "$root/scripts/measures/grant.lua" "$url" \
        -- beside-find >"$scratch/writers.log" 2>&1 &
    writers=$!
    owned_processes+=("$writers")
    sleep 1
}

end_writers() {
    kill -0 "$writers" 2>/dev/null || fail "the writers ended too early: $(tail -n 3 "$scratch/writers.log")"
    kill "$writers"
    wait "$writers" 2>/dev/null || true
}

# find_beside_writers KIND PATH LIMIT
find_beside_writers() {
    local round
    [ -s "$scratch/find.$1" ] || fail "there is no name of kind $1"
    load find 4 1 "$url" "$scratch/find.$1" "$2" >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        load find 4 "$seconds" "$url" "$scratch/find.$1" "$2" | cut -d' ' -f2 >>"$scratch/hands.$1"
    done
    note_limit "hands.$1.p99" ms "$3" "$scratch/hands.$1"
}

# measure_index INDEX ...: compares grants with and without these indexes, in turns. A single index has no bar, but
# all indexes together do.
measure_index() {
    local round name=$1 bar=- with without
    if [ $# -gt 1 ]; then name=all bar=0.95; fi
    loaded_sql -c "select indexdef || ';' from pg_indexes where schemaname = 'deed' and indexname in ($(printf "'%s'," "$@" | sed 's/,$//'))" \
        hands >"$scratch/indexes.again"
    load grant 32 1 "$url" "warm-$name" >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        with=$(load grant 32 "$seconds" "$url" "with-$name-$round")
        loaded_sql -c "drop index $(printf 'deed.%s, ' "$@" | sed 's/, $//')" hands
        without=$(load grant 32 "$seconds" "$url" "without-$name-$round")
        loaded_sql -f "$scratch/indexes.again" hands
        printf '%s %s\n' "${with% *}" "${without% *}" >>"$scratch/hands.with.$name"
    done
    note_rounds "hands.grants.with.$name" 1/s "$bar" "$scratch/hands.with.$name"
}

# Compares ingest with and without the rows that lead from a transaction or a line item to its customer, in turns. A
# trigger omits the rows.
measure_names() {
    local round with without
    stop_server
    mint_evidence $((2 * rounds * seconds * 9000))
    start_shop
    loaded_sql hands <<'SQL'
create function deed.leave_out() returns trigger language plpgsql as 'begin return null; end';
create trigger leave_out before insert on deed.transaction_names for each row execute function deed.leave_out();
SQL
    for ((round = 1; round <= rounds; round++)); do
        loaded_sql -c "alter table deed.transaction_names disable trigger leave_out" hands
        with=$(ingest_round)
        used_transactions=$((used_transactions + seconds * 9000))
        loaded_sql -c "alter table deed.transaction_names enable trigger leave_out" hands
        without=$(ingest_round)
        used_transactions=$((used_transactions + seconds * 9000))
        printf '%s %s\n' "${with% *}" "${without% *}" >>"$scratch/hands.with.names"
    done
    note_rounds hands.ingest.with.transaction_names 1/s 0.95 "$scratch/hands.with.names"
}

ingest_round() { load ingest 64 "$seconds" "$url" "$scratch/evidence" transactions "$used_transactions"; }
