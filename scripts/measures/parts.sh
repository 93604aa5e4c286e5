# The baseline for evidence is the sum of its parts. Deed cannot accept a piece faster than a
# machine receives its body, verifies its signature and writes its rows, one after the other.
# shellcheck shell=bash

# start_parts KIND: starts the bare server that gives the answer to that kind of evidence, and makes a
# database with Deed's tables for the same rows. Deed must already have accepted a piece of that kind.
start_parts() {
    local kind=$1 path
    case $kind in
    transactions) path=/v1/customers/buyer-1/receipts ;;
    *) path=/v1/stores/apple/notifications ;;
    esac
    first_body "$kind" >"$scratch/parts.body"
    curl -sf -D "$scratch/answer.head" -o "$scratch/answer.json" -H "Authorization: Bearer $admin_key" \
        -H 'Content-Type: application/json' --data-binary "@$scratch/parts.body" "$url$path" ||
        fail "Deed did not accept the first of the $kind"
    start_bare_server
    [ "${has_plain_rows:-no}" = no ] || return 0
    "$postgres_programs/createdb" -h "$scratch" -U deed plain
    "$postgres_programs/pg_dump" -h "$scratch" -U deed --schema-only deed | parts_sql plain >/dev/null
    parts_sql plain -c 'create sequence public.plain cache 1000' >/dev/null
    has_plain_rows=yes
}

# first_body KIND: the body that submits the first piece of that kind.
first_body() {
    local text
    text="$(head -n 1 "$scratch/evidence/header").$(head -n 1 "$scratch/evidence/$1")"
    case $1 in
    transactions) printf '{"environment":"sandbox","signed_transactions":["%s"]}' "$text" ;;
    *) printf '{"signedPayload":"%s"}' "$text" ;;
    esac
}

parts_sql() {
    local database=$1
    shift
    "$postgres_programs/psql" -q -X -A -t -v ON_ERROR_STOP=1 -h "$scratch" -U deed -d "$database" "$@"
}

# sum_of_parts KIND SECONDS: prints the pieces per second if each part took only its minimum time.
sum_of_parts() {
    local posts verifications rows
    posts=$(load post 64 "$2" "http://127.0.0.1:$bare_port" "$scratch/parts.body")
    verifications=$(openssl speed -seconds 1 -multi "$(nproc)" ecdsap256 2>/dev/null |
        awk '/nistp256/ { print $NF }')
    [ -n "$verifications" ] || fail "openssl speed gave no figure; install the package openssl"
    rows=$(rows_rate "$1" "$2")
    [ -n "$rows" ] || fail "pgbench could not write the same rows: $(head -n 3 "$scratch/pgbench.log")"
    awk -v a="${posts% *}" -v b="$verifications" -v c="$rows" 'BEGIN { print 1 / (1 / a + 1 / b + 1 / c) }'
    printf '%s %s %s\n' "${posts% *}" "$verifications" "$rows" >>"$scratch/parts.$1"
}

# rows_rate KIND SECONDS: prints how many pieces' rows plain statements write in a second. They are pipelined, with as
# many connections and as large batches as Deed uses for commits.
rows_rate() {
    local batch script=$scratch/parts.$1.sql
    batch=$(batch_size)
    if [ ! -s "$script" ]; then
        { printf 'begin;\n\\startpipeline\n'; sample_rows "$1" "$batch"; printf '\\endpipeline\ncommit;\n'; } >"$script"
    fi
    "$postgres_programs/pgbench" -h "$scratch" -U deed -n -M prepared -c 2 -j 2 -T "$2" -f "$script" plain \
        2>"$scratch/pgbench.log" |
        awk -v batch="$(grep -c 'into deed.events' "$script")" '/^tps = / { print $3 * batch }'
}

# Prints how many commands Deed commits together on average.
batch_size() {
    local size
    size=$(awk -v sum="$(server_metric deed_commit_batch_size_sum)" -v count="$(server_metric deed_commit_batch_size_count)" \
        'BEGIN { printf "%d", (count > 0) ? sum / count + 0.5 : 1 }')
    # pgbench accepts only this many statements in one pipeline.
    if [ "$size" -gt 40 ]; then size=40; fi
    if [ "$size" -lt 1 ]; then size=1; fi
    printf '%s' "$size"
}

# sample_rows KIND COUNT: prints statements that insert the rows of the newest piece of that kind COUNT times, with
# new names each time.
sample_rows() {
    local number row
    row=$(parts_sql deed -v "kind=$1" -f "$root/scripts/measures/parts.sql")
    for ((number = 0; number < $2; number++)); do printf '%s\n' "$row"; done
}
