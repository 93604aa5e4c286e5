# A project's feed in pages of a thousand, as facts and with what each event changed, beside COPY of the same rows.
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
}

# Events per second of psql's own copy.
copy_events() {
    local start count
    count=$(loaded_sql -c "select count(*) from deed.events" feed)
    start=${EPOCHREALTIME/[.,]/}
    loaded_sql -c "\\copy deed.events to '$scratch/feed.copy'" feed >/dev/null
    rm "$scratch/feed.copy"
    printf '%s' "$((count * 1000000 / (${EPOCHREALTIME/[.,]/} - start)))"
}
