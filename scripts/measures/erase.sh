# Measures the erasure of a customer with 1,000 events and 100 pieces of evidence among many other events. `turns` shows
# whether grants keep the rate of the earlier build.
# shellcheck shell=bash

measure_erase() {
    local key=$admin_key database=$DEED_DATABASE_URL
    stop_server
    loaded_shop=yes
    loaded_database erase "$erase_customers" 0 0
    mint_evidence $((rounds * 100)) --apart yes
    loaded_shop=no
    start_shop
    python3 "$root/scripts/measures/erase.py" "$port" "$admin_key" "$scratch/evidence" "$scratch/erase.ms" "$rounds" ||
        fail "nothing was erased"
    note_limit erase ms 1000 "$scratch/erase.ms"
    "$programs/deed" audit --projections --sample 1000 >/dev/null || fail "the log or the rows are not sound"
    stop_server
    drop_database erase
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}
