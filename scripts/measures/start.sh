# Measures how soon a server is ready on an existing database, and its memory without clients.
# shellcheck shell=bash

measure_start() {
    : >"$scratch/start.ms"
    : >"$scratch/start.rss"
    for ((round = 0; round < rounds; round++)); do
        stop_server
        start_server
        printf '%s\n' "$ready_ms" >>"$scratch/start.ms"
        sleep 1
        server_memory >>"$scratch/start.rss"
    done
    note_limit start ms 300 "$scratch/start.ms"
    note_limit start.memory MB 60 "$scratch/start.rss"
}
