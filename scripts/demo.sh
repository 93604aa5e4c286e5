# shellcheck shell=bash
# Sourced by scripts/run --demo: Deed and the practice store together, with customers in fast motion.
# Uses root, deed, practice, listen, base, console, pace, say and fail of that script.

demo_customers=(ada ben cleo dan eve fay gus hana ivan mia noa oli pia raj)
# These players buy in Google Play.
demo_players=(pia raj)

demo_stop() {
    trap - EXIT INT TERM HUP
    for process in "${store:-}" "${server:-}"; do
        [ -n "$process" ] || continue
        kill -TERM "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$demo"
}

# Waits until a line of a file says that a program is serving: demo_await FILE PATTERN PROCESS NAME
demo_await() {
    for attempt in $(seq 600); do
        if grep -q "$2" "$1"; then return; fi
        kill -0 "$3" 2>/dev/null || { cat "$1" >&2; fail "$4 did not start; the end of its log is above"; }
        sleep 0.1
    done
    cat "$1" >&2
    fail "$4 is not ready after a minute; its log is above"
}

# The demo's catalog. A season lasts as long as three months do in the demo. Google Play sells two of the products.
demo_catalog() {
    local season=P3M
    case $pace in
    [1-9]*[smh]) season=PT$((3 * ${pace%?}))${pace: -1} ;;
    [1-9]*d) season=P$((3 * ${pace%?}))D ;;
    esac
    local google='{"store": "google", "id": "pro", "kind": "auto_renewable", "entitlements": ["pro"]},
    {"store": "google", "id": "level2", "kind": "non_consumable", "entitlements": ["level2"]},'
    sed -e "s/\"duration\": \"P3M\"/\"duration\": \"${season^^}\"/" -e "s/\"products\": \[/&${google//$'\n'/}/" \
        "$root/docs/examples/backend/catalog.json"
}

# Prints Deed's answer about each entitlement of each customer, such as "cleo pro may use (grace)", and about coins.
demo_answers() {
    local list
    list=$(printf '"%s",' "${demo_customers[@]}")
    curl -fsS -H "Authorization: Bearer $backend_key" -H 'Content-Type: application/json' \
        -d "{\"customers\":[${list%,}]}" "$base/v1/entitlements/query" \
        --next -fsS -H "Authorization: Bearer $backend_key" "$base/v1/customers/gus/balances?environment=sandbox" |
        sed 's/{"customer":"/\n&/g' | awk -v today="$(date -u +%F)" '
            !/^\{"customer":"/ { next }
            {
                name = substr($0, 14); sub(/".*/, "", name)
                rest = $0
                while (match(rest, /"[a-z0-9_]+":\{"active":/)) {
                    right = substr(rest, RSTART + 1); sub(/".*/, "", right)
                    rest = substr(rest, RSTART + RLENGTH)
                    access = (substr(rest, 1, 4) == "true") ? "may use" : "may not use"
                    state = substr(rest, index(rest, "\"state\":\"") + 9); sub(/".*/, "", state)
                    end = ""
                    # Each renewal changes the end. Null means no end.
                    if (access == "may use" && match(rest, /"until":("[^"]*"|null)/)) {
                        day = substr(rest, RSTART + 9, 10)
                        time = substr(rest, RSTART + 20, 8)
                        if (RLENGTH > 12) end = " until " (day == today ? time : day)
                    }
                    print name " " right " " access " (" state ")" end
                }
                if (match($0, /"balances":\{"coins":-?[0-9]+/))
                    print name " coins may use (" substr($0, RSTART + 20, RLENGTH - 20) ")"
            }'
}

demo_start() {
    # The demo uses a temporary folder instead of the real data folder.
    demo=$(mktemp -d "${TMPDIR:-/tmp}/deed-demo.XXXXXX")
    trap demo_stop EXIT
    trap 'say "stopping"; exit 0' INT TERM HUP
    # If root starts the demo, the database runs as another user.
    chmod 711 "$demo"
    export DEED_DATA_DIR=$demo/deed DEED_LISTEN=$listen
    # Ignores variables that are meant for another Deed.
    local name
    for name in "${!DEED_@}"; do
        case $name in
        DEED_DATA_DIR | DEED_LISTEN) ;;
        *) unset "$name" ;;
        esac
    done
    "$practice" roots --data-dir "$demo/practice" >/dev/null

    say "starting Deed on $listen, and the practice store"
    "$deed" serve ${console:+--console} --webhook-allow 127.0.0.1,::1 --extra-roots "$demo/practice/roots" 2>"$demo/serve.log" &
    server=$!
    demo_await "$demo/serve.log" '"event":"ready"' "$server" Deed
    "$practice" serve --data-dir "$demo/practice" --listen 127.0.0.1:0 --pace "$pace" --seed 1 \
        --notify "$base/v1/stores/apple/notifications" >"$demo/store.log" 2>&1 &
    store=$!
    demo_await "$demo/store.log" '^serving on ' "$store" "the practice store"
    store_url=$(sed -n 's/^serving on //p' "$demo/store.log")
    export DEED_PRACTICE_URL=$store_url

    "$deed" project create default >/dev/null
    "$deed" app set --bundle-id com.example.game --apple-id 1234567890 --sandbox-access all >/dev/null
    "$deed" app set --package com.example.game --sandbox-access all --store-url "$store_url" \
        --service-account-file "$demo/practice/keys/google-service-account.json" >/dev/null
    demo_catalog >"$demo/catalog.json"
    "$deed" catalog apply "$demo/catalog.json" >/dev/null
    backend_key=$("$deed" key create --role backend --name demo | head -n 1)
    printf '%s\n' "$backend_key" >"$demo/key"
    console_link="The console is off, because other machines reach $listen: passwords must not travel in the clear."
    if [ -n "$console" ]; then
        console_link=$("$deed" person create --email demo@example.com --role admin --console-url "$base" 2>"$demo/answer") ||
            { cat "$demo/answer" >&2; fail "no person could be added to the console; the reason is above"; }
    fi
}

# Registers each customer's account token, which every purchase contains, and starts the customers' lives.
demo_live() {
    local number=0 customer
    for customer in "${demo_customers[@]}"; do
        number=$((number + 1))
        curl -fsS -o "$demo/answer" -X PUT -H "Authorization: Bearer $backend_key" \
            -H 'Content-Type: application/json' \
            -d "{\"token\":\"$(printf '00000000-0000-4000-8000-%012d' "$number")\",\"environment\":\"sandbox\"}" \
            "$base/v1/customers/$customer/account_token"
    done
    "$practice" lives run "$root/docs/examples/practice/demo.json" --no-jump >/dev/null
    "$practice" lives run "$root/docs/examples/practice/demo-google.json" --no-jump >/dev/null
}

# Acts like apps in Google Play at each start: submits all purchases.
demo_hand_in() {
    local customer tokens
    for customer in "${demo_players[@]}"; do
        tokens=$("$practice" restore --customer "$customer" --json 2>/dev/null |
            sed -n 's/.*"google":\(\[{[^]]*\]\).*/\1/p' || true)
        [ -n "$tokens" ] || continue
        curl -fsS -o "$demo/answer" -X POST -H "Authorization: Bearer $backend_key" \
            -H 'Content-Type: application/json' -d "{\"google\":$tokens}" \
            "$base/v1/customers/$customer/receipts" || true
    done
}

demo_explain() {
    cat <<TEXT
== Fourteen customers are alive now, and a month lasts $pace. In another terminal:

export DEED_DATA_DIR=$(printf %q "$DEED_DATA_DIR") DEED_PRACTICE_URL=$store_url DEED_KEY=\$(cat $(printf %q "$demo/key"))
$(printf %q "$deed") customer timeline cleo --environment sandbox
$(printf %q "$deed") customer explain cleo --entitlement pro --environment sandbox
$(printf %q "$deed") customer events gus --environment sandbox
curl -H "Authorization: Bearer \$DEED_KEY" $base/v1/customers/ada/entitlements
$(printf %q "$practice") show --customer cleo
$(printf %q "$practice") buy --customer you --product pro.month

The console, for a browser on this machine: choose a password for demo@example.com within an hour, sign in, and look for cleo.
$console_link

ada begins with a trial and renews; ben cancels and comes back; cleo's payments fail: grace, retry, the end; dan's
card works again in time; eve upgrades; fay gets a refund; gus buys coins; hana's refund is reversed; ivan buys
seasons; mia gets 30 days; noa asks a parent; oli goes down a level; pia and raj buy in Google Play, which sends no
notifications: pia's trial becomes a membership that she cancels, and raj pays for a level weeks after he ordered it. Each change in Deed's answers, in UTC:

TEXT
}

# Prints each answer that differs from the last one, until the demo stops. During a renewal, access
# can lapse until the notification arrives, so an answer counts only if two looks in a row see it.
demo_watch() {
    local line name
    local look=0
    declare -A last=() seen=()
    while kill -0 "$server" 2>/dev/null && kill -0 "$store" 2>/dev/null; do
        if ((look++ % 4 == 0)); then demo_hand_in; fi
        while read -r line; do
            name=${line%% may *}
            if [ "${seen[$name]:-}" != "$line" ]; then
                seen[$name]=$line
                continue
            fi
            [ "${last[$name]:-}" != "$line" ] || continue
            last[$name]=$line
            printf '%s   %s\n' "$(date -u +%H:%M:%S)" "$line"
        done < <(demo_answers || true)
        sleep 0.4
    done
    fail "Deed or the practice store ended; their logs were in $demo"
}
