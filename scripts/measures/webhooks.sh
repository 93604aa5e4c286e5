# Measures how soon after its commit Deed first sends an event, at 1,000 events per second. Also measures grants at
# their highest rate beside an endpoint that gets 1,000 per second, and the memory of 100,000 waiting messages.
# shellcheck shell=bash

measure_webhooks() {
    local round sink sick sick_port alone beside before after id
    stop_server
    loaded_database webhooks 1000 1 1
    DEED_WEBHOOK_ALLOW=127.0.0.1 start_server
    start_sink
    sink=$sink_port
    start_sink sick
    sick_port=$sink_port
    id=$(webhook_call POST "" "{\"url\":\"http://127.0.0.1:$sink/\",\"types\":[\"grant.given\"],\"concurrency\":32,\"rate\":1000}")
    for ((round = 1; round <= rounds; round++)); do
        webhook_call POST "/$id/pause" >/dev/null
        alone=$(load grant 64 "$seconds" "http://127.0.0.1:$port" "alone-$round")
        webhook_call POST "/$id/resume" >/dev/null
        beside=$(load grant 64 "$seconds" "http://127.0.0.1:$port" "beside-$round")
        printf '%s %s\n' "${beside%% *}" "${alone%% *}" >>"$scratch/webhooks.grants"
    done
    note_rounds webhooks.grants 1/s 0.8 "$scratch/webhooks.grants"
    # Creates a new endpoint, which starts with the next event.
    webhook_call DELETE "/$id" >/dev/null
    id=$(webhook_call POST "" "{\"url\":\"http://127.0.0.1:$sink/\",\"types\":[\"grant.given\"],\"concurrency\":32}")
    paced_attempts "$((seconds * 10))" >"$scratch/webhooks.first"
    note_limit webhooks.first ms 1000 "$scratch/webhooks.first"
    # Repeats the measure beside an endpoint whose receiver fails.
    for ((round = 1; round <= 3; round++)); do
        alone=$(paced_attempts "$((seconds * 4))")
        sick=$(webhook_call POST "" "{\"url\":\"http://127.0.0.1:$sick_port/\",\"types\":[\"grant.given\"]}")
        printf '%s %s\n' "$(paced_attempts "$((seconds * 4))")" "$alone" >>"$scratch/webhooks.healthy"
        webhook_call DELETE "/$sick" >/dev/null
    done
    note_multiple webhooks.healthy ms 1.5 "$scratch/webhooks.healthy"
    # No receiver listens there. This measure comes first, because the grants fill other caches.
    webhook_call PATCH "/$id" '{"url":"http://127.0.0.1:9/"}' >/dev/null
    webhook_call POST "/$id/pause" >/dev/null
    while [ "$(webhook_lag "$id")" -lt 100000 ]; do
        round=$((round + 1))
        load grant 64 5 "http://127.0.0.1:$port" "wait-$round" >/dev/null
    done
    before=$(server_memory)
    webhook_call POST "/$id/resume" >/dev/null
    sleep 20
    after=$(server_memory)
    awk -v before="$before" -v after="$after" 'BEGIN { print after - before }' >"$scratch/webhooks.memory"
    note_limit webhooks.memory MB 50 "$scratch/webhooks.memory"
}

# start_sink [sick]: starts a receiver on sink_port that records arrivals in the file arrivals, or arrivalssick.
start_sink() {
    local tries
    : >"$scratch/sink.port"
    python3 "$root/scripts/measures/sink.py" "$scratch/arrivals$*" "$@" >"$scratch/sink.port" &
    owned_processes+=("$!")
    for ((tries = 0; tries < 100; tries++)); do [ -s "$scratch/sink.port" ] && break; sleep 0.1; done
    sink_port=$(cat "$scratch/sink.port")
}

# paced_attempts SECONDS: measures the p99 from a grant's commit to the first attempt to send it, at 1,000 grants per
# second.
paced_attempts() {
    local start
    start=$(date +%s%3N)
    python3 "$root/scripts/measures/paced.py" "$port" "$admin_key" 1000 "$1" "$start"
    sleep 5
    loaded_sql -At -c "create temporary table arrivals (message text, at bigint)" -c "\\copy arrivals from '$scratch/arrivals'" \
        -c "select percentile_disc(0.99) within group (order by coalesce(a.at - e.recorded_at, 1000000))
            from deed.events as e left join (select message, min(at) as at from arrivals group by message) as a
                on a.message = e.shard || '-' || e.seq || '-' || encode(substring(e.chain from 1 for 4), 'hex')
            where e.type = 'grant.given' and e.recorded_at >= $start" webhooks
}

# webhook_call METHOD PATH [BODY]: prints the id in the answer.
webhook_call() {
    curl -fsS -X "$1" -H "Authorization: Bearer $admin_key" --data "${3:-}" "http://127.0.0.1:$port/v1/webhooks$2" |
        sed -n 's/.*"id":"\(wh_[a-z0-9]*\)".*/\1/p'
}

webhook_lag() {
    curl -fsS -H "Authorization: Bearer $admin_key" "http://127.0.0.1:$port/v1/webhooks/$1" | sed 's/.*"lag":\([0-9]*\).*/\1/'
}
