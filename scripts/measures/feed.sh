# Compares a project's feed in pages of a thousand, with and without `access`, with COPY of the same
# rows. Also measures cached reads meanwhile, and how soon waiting calls get a write.
# shellcheck shell=bash

measure_feed() {
    local round copied bare told before after
    stop_server
    loaded_database feed "$feed_events" 1000 1000
    start_server
    before=$(server_memory)
    for ((round = 1; round <= 3; round++)); do
        copied=$(copy_events)
        bare=$(python3 "$root/scripts/measures/feed.py" "$port" "$admin_key" access=0)
        told=$(python3 "$root/scripts/measures/feed.py" "$port" "$admin_key" access=1)
        printf '%s %s\n' "$bare" "$copied" >>"$scratch/feed.facts"
        printf '%s %s\n' "$told" "$copied" >>"$scratch/feed.access"
    done
    after=$(server_memory)
    note_rounds feed.facts 1/s 0.1 "$scratch/feed.facts"
    note_rounds feed.access 1/s 0.02 "$scratch/feed.access"
    awk -v before="$before" -v after="$after" 'BEGIN { print after - before }' >"$scratch/feed.memory"
    note_limit feed.memory MB 100 "$scratch/feed.memory"
    read_beside_feed
    note_multiple feed.read.p99 ms 2 "$scratch/feed.read"
    wake_calls 1 1 300
    wake_calls 1000 1000 10
    # This measure comes last, because its waiting calls keep their connections for up to thirty seconds, and an
    # address may have only 1,024.
    wake_calls 1000 1 100
}

# Measures cached reads alone, and while a client reads the whole feed.
read_beside_feed() {
    local round url=http://127.0.0.1:$port alone beside reader
    warm_answers 0 10000
    for ((round = 1; round <= rounds; round++)); do
        alone=$(load read 64 1 "$url" 10000)
        python3 "$root/scripts/measures/feed.py" "$port" "$admin_key" access=1 >/dev/null &
        reader=$!
        owned_processes+=("$reader")
        beside=$(load read 64 1 "$url" 10000)
        kill -0 "$reader" 2>/dev/null || fail "the feed ended before the reads did; raise feed_events"
        kill "$reader"
        wait "$reader" 2>/dev/null || true
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/feed.read"
    done
}

# wake_calls WAITING WOKEN ROUNDS: measures how soon waiting calls are answered after a write's answer.
wake_calls() {
    python3 "$root/scripts/measures/wake.py" "$port" "$admin_key" "$@" >"$scratch/feed.wake" ||
        fail "the waiting calls got no answer"
    note_limit "feed.wake.$2_of_$1" ms 100 "$scratch/feed.wake"
}

# Prints how many events per second psql copies.
copy_events() {
    local start count
    count=$(loaded_sql -c "select count(*) from deed.events" feed)
    start=${EPOCHREALTIME/[.,]/}
    loaded_sql -c "\\copy deed.events to '$scratch/feed.copy'" feed >/dev/null
    rm "$scratch/feed.copy"
    printf '%s' "$((count * 1000000 / (${EPOCHREALTIME/[.,]/} - start)))"
}
