# Measures how fast Deed accepts purchases of Google Play if Google answers in 20 ms, beside what an app's places at
# the store allow. Also measures what calls that wait for a silent Google cost in memory and in cached reads.
# shellcheck shell=bash

# How many of an app's questions are in progress at once (Sources/Outbound/Courier.swift).
play_places=4
play_milliseconds=20

measure_play() {
    local round lifting waiting before alone beside
    [ -s "$scratch/readers" ] || grant_readers
    start_play
    set_up_play
    url="http://127.0.0.1:$port"
    # Without this, the run would reach Google's limit of 3,000 questions a minute instead of Deed's. A burst of the
    # budgets lasts longer than this pause.
    loaded_sql deed <<<'delete from deed.store_budgets \watch 0.5' >/dev/null 2>&1 &
    lifting=$!
    owned_processes+=("$lifting")
    # There are twice as many clients as places, because questions in progress at a round's end do not count.
    load play 8 2 "$url" "warm-" 1 >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        printf '%s %s\n' "$(load play 8 "$seconds" "$url" "t$round-" 1 | cut -d' ' -f1)" \
            $((play_places * 1000 / play_milliseconds)) >>"$scratch/play.rate"
    done
    note_rounds ingest.play 1/s 0.8 "$scratch/play.rate"
    load read 16 1 "$url" 10000 >/dev/null
    before=$(server_memory)
    for ((round = 1; round <= 3; round++)); do
        alone=$(load read 16 3 "$url" 10000)
        DEED_BENCH_KEY=$admin_key wrk -t1 -c500 -d6s --timeout 20s -s "$root/scripts/measures/play.lua" "$url" -- "slow$round-" 2 \
            >/dev/null 2>&1 &
        waiting=$!
        owned_processes+=("$waiting")
        sleep 1.5
        beside=$(load read 16 3 "$url" 10000)
        awk -v before="$before" -v after="$(server_memory)" 'BEGIN { print after - before }' >>"$scratch/play.memory"
        wait "$waiting" || true
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/play.reads"
    done
    kill "$lifting"
    note_limit play.memory MB 50 "$scratch/play.memory"
    note_multiple play.reads ms 2 "$scratch/play.reads"
}

# Starts the fake Google. Sets $play_port.
start_play() {
    local tries
    python3 "$root/scripts/measures/play.py" "$play_milliseconds" >"$scratch/play.port" &
    owned_processes+=("$!")
    for ((tries = 0; tries < 100; tries++)); do [ -s "$scratch/play.port" ] && break; sleep 0.1; done
    play_port=$(cat "$scratch/play.port")
}

# Sets up two apps whose store is the fake Google, and a catalog for them.
set_up_play() {
    local app
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$scratch/play.pem" 2>/dev/null ||
        fail "openssl made no key; install the package openssl"
    python3 - "$scratch/play.pem" "$play_port" >"$scratch/play.json" <<'PY'
import json, sys
print(json.dumps({"type": "service_account", "project_id": "bench", "private_key_id": "bench", "client_id": "1",
    "client_email": "bench@bench.iam.gserviceaccount.com", "private_key": open(sys.argv[1]).read(),
    "token_uri": f"http://127.0.0.1:{sys.argv[2]}/token"}))
PY
    for app in 0 1; do
        "$programs/deed" app set --store google --package "com.example.app$app" --sandbox-access none \
            --service-account-file "$scratch/play.json" --store-url "http://127.0.0.1:$play_port" >/dev/null ||
            fail "the app was not set"
    done
    printf '{"products":[{"store":"google","id":"pro","kind":"auto_renewable","entitlements":["pro"]}]}' >"$scratch/play.catalog"
    "$programs/deed" catalog apply "$scratch/play.catalog" >/dev/null || fail "the catalog was not applied"
}
