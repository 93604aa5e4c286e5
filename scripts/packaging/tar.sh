# Sourced by scripts/package: a tar file for systems without these packages, with its installer.
# shellcheck shell=bash disable=SC2154

make_tar() {
    local name=deed-$version-linux-$architecture tree=$scratch/tar/deed-$version-linux-$architecture
    lay "$tree" deed
    lay "$tree" deed-practice
    mkdir -p "$tree/lib/systemd/system"
    local one
    for one in deed.service deed-{reconcile,backup}.{service,timer}; do cp "$root/deploy/$one" "$tree/lib/systemd/system/"; done
    cp -r "$root/deploy/monitoring" "$root/deploy/proxies" "$tree/"
    license_text >"$tree/LICENSE"
    local key=''
    if [ -n "$sign_key" ]; then key=$(openssl pkey -in "$sign_key" -pubout); fi
    awk -v key="$key" '/^release_key=/ { printf "release_key=\x27%s\x27\n", key; next } { print }' \
        "$root/scripts/packaging/install.sh" >"$tree/install.sh"
    find "$tree" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$tree/install.sh" "$tree"/bin/*
    (cd "$tree" && find . -type f ! -name 'SHA256SUMS*' ! -path ./install.sh -printf '%P\0' | sort -z | xargs -0 sha256sum) >"$tree/SHA256SUMS"
    if [ -n "$sign_key" ]; then
        openssl pkeyutl -sign -rawin -inkey "$sign_key" -in "$tree/SHA256SUMS" -out "$tree/SHA256SUMS.sig"
    fi
    settle_times "$scratch/tar"
    plain_tar "$scratch/tar" | gzip -9n >"$out/$name.tar.gz"
    say "made $out/$name.tar.gz"
}
