# Compares a backup and a restore with pg_dump and pg_restore with the same options, in turns and under the same load.
# Also compares their effects on writers and readers, and measures how soon `deed status` and `deed doctor` answer
# among many customers.
# shellcheck shell=bash

measure_backup() {
    local key=$admin_key database=$DEED_DATABASE_URL round dump name out=$scratch/backups
    local url
    stop_server
    loaded_database backup "$backup_customers" 0 0
    DEED_ANSWER_MEMORY_MEGABYTES=1024 start_server
    url="http://127.0.0.1:$port"
    warm_answers 0 10000
    for ((round = 1; round <= backup_rounds; round++)); do
        dump=$scratch/plain.$round
        beside_load "backup.deed" "$programs/deed" backup --out "$out" --keep 1
        beside_load "backup.plain" "$postgres_programs/pg_dump" -h "$scratch" -U deed --format=directory --jobs=2 \
            --schema=deed --file="$dump" backup
        for name in deed plain; do "$postgres_programs/createdb" -h "$scratch" -U deed "restored_$name"; done
        beside_load "restore.deed" "$programs/deed" restore "$out" --database-url "$(database_url restored_deed)"
        beside_load "restore.plain" "$postgres_programs/pg_restore" -h "$scratch" -U deed --no-owner --exit-on-error \
            --jobs=2 --dbname=restored_plain "$dump"
        for name in deed plain; do drop_database "restored_$name"; done
        rm -rf "$dump"
    done
    for name in backup restore; do
        note_beside "$name.seconds" s ms
        note_beside "$name.grants.p99" ms grants
        note_beside "$name.reads.p99" ms reads
    done
    stop_server
    drop_database backup
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

# Measures how soon `deed status` and `deed doctor` answer.
measure_status() {
    local key=$admin_key database=$DEED_DATABASE_URL round
    stop_server
    loaded_database status "$erase_customers" 0 0
    start_server
    for ((round = 1; round <= rounds; round++)); do
        time_of "$programs/deed" status >>"$scratch/status.ms"
        time_of "$programs/deed" doctor >>"$scratch/doctor.ms"
    done
    note_limit status ms 300 "$scratch/status.ms"
    note_limit doctor ms 5000 "$scratch/doctor.ms"
    stop_server
    drop_database status
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

# beside_load NAME COMMAND ...: runs the command while others write and read. Appends its milliseconds, and the median
# of the windows' 99th percentiles, to files of that name.
beside_load() {
    local name=$1 working writing window=$scratch/window
    shift
    (time_of "$@" >"$scratch/working.ms") &
    working=$!
    owned_processes+=("$working")
    : >"$window.grants"
    : >"$window.reads"
    while kill -0 "$working" 2>/dev/null; do
        load grant 16 "$seconds" "$url" "$name-$EPOCHREALTIME" >"$window.grant" &
        writing=$!
        load read 32 "$seconds" "$url" 10000 | cut -d' ' -f2 >>"$window.reads"
        wait "$writing" || fail "the grants beside $name failed"
        cut -d' ' -f2 "$window.grant" >>"$window.grants"
    done
    wait "$working" || fail "$name failed: $(tail -n 3 "$scratch/working.log")"
    cat "$scratch/working.ms" >>"$scratch/$name.ms"
    median "$window.grants" >>"$scratch/$name.grants"
    median "$window.reads" >>"$scratch/$name.reads"
}

# Pairs Deed's figure of each round with the baseline's.
note_beside() {
    local name=${1%%.*} scale=1
    [ "$2" != s ] || scale=1000
    paste -d' ' "$scratch/$name.deed.$3" "$scratch/$name.plain.$3" |
        awk -v scale="$scale" '{ print $1 / scale, $2 / scale }' >"$scratch/$1"
    note_multiple "$1" "$2" 1.25 "$scratch/$1"
}

# time_of COMMAND ...: prints the command's milliseconds. `deed status` and `deed doctor` exit with 1 if a person has
# to act.
time_of() {
    local before=${EPOCHREALTIME/[.,]/}
    "$@" >"$scratch/working.log" 2>&1 || [ "$2" = status ] || [ "$2" = doctor ] || return
    printf '%s\n' $(((${EPOCHREALTIME/[.,]/} - before) / 1000))
}
