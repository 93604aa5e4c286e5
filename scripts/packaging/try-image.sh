# Sourced by scripts/try-packages: the image without a registry and without a runtime.
# shellcheck shell=bash disable=SC2154

try_image() {
    local archive=$packages/deed-$version-$architecture.oci.tar
    python3 "$root/scripts/packaging/unpack.py" "$archive" "$scratch/image" >"$scratch/config" ||
        fail "$archive is not a valid OCI archive"
    (
        # shellcheck source=scripts/private-postgres.sh
        . "$root/scripts/private-postgres.sh"
        trap finish EXIT
        mkdir "$scratch/postgres"
        image=$scratch/image config=$scratch/config
        scratch=$scratch/postgres
        find_postgres
        # shellcheck disable=SC2119
        start_postgres
        # The image's user reaches the socket through a mount.
        chmod 711 "$scratch"
        serve_image "$image" "$config" "$scratch"
    ) || fail "the image does not serve"
    say "the image serves as the user deed on a read-only root: $(du -h "$archive" | cut -f1) as a file"
}

# Runs the command from the image's configuration on the unpacked image: serve_image ROOT CONFIG SOCKETS
serve_image() {
    local folder=$1 port user
    user=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["config"]["User"])' "$2")
    [ "$user" = deed ] || fail "the image runs as $user"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    unshare --mount --pid --fork --kill-child bash -euc "
        mount --bind '$folder' '$folder'; mkdir -p '$folder/run/postgresql'
        mount --bind '$3' '$folder/run/postgresql'
        mount -t tmpfs tmpfs '$folder/tmp'; mount -t tmpfs -o uid=999,gid=999,mode=700 tmpfs '$folder/var/lib/deed'
        mount -t proc proc '$folder/proc'; mount --bind /dev '$folder/dev'
        mount -o remount,bind,ro '$folder'
        run() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEED_DATA_DIR=/var/lib/deed DEED_LISTEN=127.0.0.1:$port \
            DEED_DATABASE_URL='postgresql:///postgres?host=/run/postgresql&user=deed' chroot --userspec=999:999 --groups= '$folder' \"\$@\"; }
        ! run sh -c ': >/usr/bin/deed' 2>/dev/null && ! run sh -c ': >/etc/changed' 2>/dev/null
        run deed-practice --version; run deed migrate >/dev/null; run deed project create default
        key=\$(run deed key create --role reader | head -n 1)
        run deed serve & server=\$!
        for attempt in \$(seq 100); do if run deed status --ready 2>/dev/null; then break; fi; sleep 0.1; done
        run deed status --ready
        run deed grant --customer player-1 --entitlement pro --for P30D --reason 'first steps'
        curl -fsS -H \"Authorization: Bearer \$key\" http://127.0.0.1:$port/v1/customers/player-1/entitlements | grep -q '\"pro\":{\"active\":true'
        kill \$server; wait \$server || true" >&2
}
