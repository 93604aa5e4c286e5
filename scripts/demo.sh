# shellcheck shell=bash
# Sourced by scripts/run --demo: Deed and the practice store together, with customers who live quickly.
# Uses root, deed, practice, listen, base, pace, say and fail of that script.

demo_customers=(ada ben cleo dan eve fay gus hana ivan mia noa oli)

demo_stop() {
    trap - EXIT INT TERM HUP
    for process in "${store:-}" "${server:-}"; do
        [ -n "$process" ] || continue
        kill -TERM "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$demo"
}

# Waits until a line of a file tells that something serves: demo_await FILE PATTERN PROCESS NAME
demo_await() {
    for attempt in $(seq 600); do
        if grep -q "$2" "$1"; then return; fi
        kill -0 "$3" 2>/dev/null || { cat "$1" >&2; fail "$4 did not start; the end of its log is above"; }
        sleep 0.1
    done
    cat "$1" >&2
    fail "$4 is not ready after a minute; its log is above"
}

# What the demo lives by: its seasons last as long as three months do there.
demo_catalog() {
    local season=P3M
    case $pace in
    [1-9]*[smh]) season=PT$((3 * ${pace%?}))${pace: -1} ;;
    [1-9]*d) season=P$((3 * ${pace%?}))D ;;
    esac
    sed "s/\"duration\": \"P3M\"/\"duration\": \"${season^^}\"/" "$root/docs/examples/backend/catalog.json"
}

# Each customer with what Deed answers of each entitlement, "cleo pro may use (grace)", and who has coins.
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
                    # Each renewal moves it; null is for good.
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
    # Not in the real data folder, which stays as it is.
    demo=$(mktemp -d "${TMPDIR:-/tmp}/deed-demo.XXXXXX")
    trap demo_stop EXIT
    trap 'say "stopping"; exit 0' INT TERM HUP
    # Started by root, the database runs as another user.
    chmod 711 "$demo"
    export DEED_DATA_DIR=$demo/deed DEED_LISTEN=$listen
    # Whatever else was set is for another Deed.
    local name
    for name in "${!DEED_@}"; do
        case $name in
        DEED_DATA_DIR | DEED_LISTEN) ;;
        *) unset "$name" ;;
        esac
    done
    "$practice" roots --data-dir "$demo/practice" >/dev/null

    say "starting Deed on $listen, and the practice store"
    "$deed" serve --webhook-allow 127.0.0.1,::1 --extra-roots "$demo/practice/roots" 2>"$demo/serve.log" &
    server=$!
    demo_await "$demo/serve.log" '"event":"ready"' "$server" Deed
    "$practice" serve --data-dir "$demo/practice" --listen 127.0.0.1:0 --pace "$pace" --seed 1 \
        --notify "$base/v1/stores/apple/notifications" >"$demo/store.log" 2>&1 &
    store=$!
    demo_await "$demo/store.log" '^serving on ' "$store" "the practice store"
    store_url=$(sed -n 's/^serving on //p' "$demo/store.log")
    export DEED_PRACTICE_STORE=$store_url

    "$deed" project create default >/dev/null
    "$deed" app set --bundle-id com.example.game --apple-id 1234567890 --sandbox-access all >/dev/null
    demo_catalog >"$demo/catalog.json"
    "$deed" catalog apply "$demo/catalog.json" >/dev/null
    backend_key=$("$deed" key create --role backend --name demo | head -n 1)
    printf '%s\n' "$backend_key" >"$demo/key"
}

# Tells Deed each customer's account token, which every purchase carries, and lets the customers live.
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
}

demo_explain() {
    cat <<TEXT
== Twelve customers live now, and a month lasts $pace. In another terminal:

export DEED_DATA_DIR=$(printf %q "$DEED_DATA_DIR") DEED_PRACTICE_STORE=$store_url DEED_KEY=\$(cat $(printf %q "$demo/key"))
$(printf %q "$deed") customer timeline cleo --environment sandbox
$(printf %q "$deed") customer explain cleo --entitlement pro --environment sandbox
$(printf %q "$deed") customer events gus --environment sandbox
curl -H "Authorization: Bearer \$DEED_KEY" $base/v1/customers/ada/entitlements
$(printf %q "$practice") show --customer cleo
$(printf %q "$practice") buy --customer you --product pro.month

ada begins with a trial and renews; ben cancels and comes back; cleo's payments fail: grace, retry, the end; dan's
card is put right in time; eve upgrades; fay is refunded; gus buys coins; hana's refund is reversed; ivan buys
seasons; mia is given 30 days; noa asks a parent; oli goes down a level. Each change of an answer of Deed, in UTC:

TEXT
}

# Prints each answer that differs from the one before, until the demo is stopped. A renewal takes the moment
# that its notification takes: what is there at one look only is not told.
demo_watch() {
    local line name
    declare -A last=() seen=()
    while kill -0 "$server" 2>/dev/null && kill -0 "$store" 2>/dev/null; do
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
