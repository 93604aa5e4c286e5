# Measures honest writes and submissions beside each attack by strangers, on few and on many connections, and beside
# the same number of connections that request /healthz.
# shellcheck shell=bash

# Measures the answers per second of four honest callers, one at a time, as the reciprocal of the median time. The
# server already knows the store's address from a genuine notification.
measure_strangers() {
    local attack connections calm besieged place
    local honest=(writes submissions notifications)
    mint_strangers_evidence
    stop_server
    DEED_TRUSTED_PROXIES=127.0.0.1 start_shop
    load ingest 4 1 "$url" "$scratch/evidence" notifications "$(next_evidence notifications)" >/dev/null
    for connections in 32 256 1500; do
        for attack in garbage signature leaf big idle slow; do
            calm=$(honest_pace healthz "$connections")
            besieged=$(honest_pace "$attack" "$connections")
            for place in 0 1 2; do
                printf '%s %s\n' "$(nth $place $besieged)" "$(nth $place $calm)" \
                    >>"$scratch/strangers.$attack.${honest[place]}"
            done
        done
    done
    for attack in garbage signature leaf big idle slow; do
        for place in 0 1 2; do
            note_rounds "strangers.$attack.${honest[place]}" 1/s 0.5 "$scratch/strangers.$attack.${honest[place]}"
        done
    done
    stop_server
    start_server
}

# nth PLACE WORD...: prints the word at that place, counted from 0.
nth() {
    shift $(($1 + 1))
    printf '%s' "$1"
}

mint_strangers_evidence() {
    [ -d "$scratch/evidence" ] || mint_evidence $((37 * seconds * 4000 + 8000))
    used_transactions=${used_transactions:-0}
}

# honest_pace ATTACK CONNECTIONS: prints how many writes, submissions and notifications one caller completes per
# second during the attack. A refused call fails the bench.
honest_pace() {
    local writes submissions attacking length=$((3 * seconds + 2))
    attack_with "$1" "$2" "$length" &
    attacking=$!
    owned_processes+=("$attacking")
    sleep 1
    load grant 4 "$seconds" "$url" "honest-$1-$2-$RANDOM$RANDOM" >/dev/null
    writes=$(awk '{ print 1000 / $1 }' "$scratch/p50")
    load ingest 4 "$seconds" "$url" "$scratch/evidence" transactions "$(next_evidence transactions)" >/dev/null
    submissions=$(awk '{ print 1000 / $1 }' "$scratch/p50")
    load ingest 4 "$seconds" "$url" "$scratch/evidence" notifications "$(next_evidence notifications)" >/dev/null
    wait "$attacking" || true
    printf '%s %s %s\n' "$writes" "$submissions" "$(awk '{ print 1000 / $1 }' "$scratch/p50")"
}

# next_evidence KIND: prints where the next evidence of that kind begins. Stores this in a file, because callers run
# in separate shells.
next_evidence() {
    local used
    used=$(cat "$scratch/strangers.used.$1" 2>/dev/null || printf 0)
    printf '%s\n' $((used + seconds * 4000)) >"$scratch/strangers.used.$1"
    printf '%s\n' "$used"
}

# attack_with KIND CONNECTIONS SECONDS
attack_with() {
    case $1 in
    idle) "$programs/deed-bench" hold --port "$port" --connections "$2" --seconds "$3" ;;
    slow) "$programs/deed-bench" hold --port "$port" --connections "$2" --seconds "$3" --body slow ;;
    *)
        DEED_BENCH_KEY=$admin_key wrk -t1 -c"$2" -d"${3}s" --timeout 20s \
            -s "$root/scripts/measures/attack.lua" "$url" -- "$scratch/evidence" "$1" >/dev/null
        ;;
    esac
}
