# Measures a project with many large catalogs: the server's memory, and the first write after a start and after the
# database has ended every session.
# shellcheck shell=bash

measure_catalogs() {
    local before after round
    catalogs_calls write before 200 >/dev/null
    : >"$scratch/catalogs.memory" >"$scratch/catalogs.start"
    catalogs_start before
    before=$(server_memory)
    say "applying $catalogs_count catalogs of 770 kB"
    catalogs_calls fill "$catalogs_count"
    server_memory | awk -v before="$before" '{ print $1 - before }' >"$scratch/catalogs.filling"
    note_value catalogs.filling MB "$scratch/catalogs.filling"
    for ((round = 1; round <= 3; round++)); do
        catalogs_start "start-$round" >>"$scratch/catalogs.start"
        after=$(server_memory)
        awk -v before="$before" -v after="$after" 'BEGIN { print after - before }' >>"$scratch/catalogs.memory"
    done
    note_limit catalogs.memory MB 30 "$scratch/catalogs.memory"
    note_limit catalogs.start ms 1000 "$scratch/catalogs.start"
    # This customer's last event is older than all of these catalogs.
    catalogs_calls write before 1 >"$scratch/catalogs.earlier"
    note_limit catalogs.earlier ms 1000 "$scratch/catalogs.earlier"
    catalogs_calls cut 5 "$postgres_programs/psql" -q -X -h "$scratch" -U deed deed >"$scratch/catalogs.cut"
    note_limit catalogs.cut ms 1000 "$scratch/catalogs.cut"
}

# Starts a new server, and prints the milliseconds of its first write.
catalogs_start() {
    stop_server
    start_server
    catalogs_calls write "$1" 1
    catalogs_calls write "warm-$1" 500 >/dev/null
}

catalogs_calls() { python3 "$root/scripts/measures/catalogs.py" "$1" "$port" "$admin_key" "${@:2}" || fail "the calls failed"; }
