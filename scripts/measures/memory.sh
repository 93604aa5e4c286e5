# Measures the server's memory under mixed load. One request in ten is a grant, and the others are reads.
# shellcheck shell=bash

measure_memory() {
    local url="http://127.0.0.1:$port" loading minute=0
    grant_readers
    say "memory at the start: $(server_memory) MB"
    load mixed 64 "$soak" "$url" soak >"$scratch/soak" &
    loading=$!
    owned_processes+=("$loading")
    while kill -0 "$loading" 2>/dev/null; do
        sleep 1
        minute=$((minute + 1))
        if [ $((minute % 60)) -eq 0 ]; then say "memory after $((minute / 60)) min: $(server_memory) MB"; fi
    done
    wait "$loading" || fail "the load of the soak failed"
    server_memory >"$scratch/memory"
    say "memory at the end: $(cat "$scratch/memory") MB; $(cut -d' ' -f1 "$scratch/soak") requests/s"
    note_limit memory MB - "$scratch/memory"
}
