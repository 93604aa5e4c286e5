# Sourced by scripts/package: Debian packages.
# shellcheck shell=bash disable=SC2154

# The maintainer that a package names.
maintainer=${DEED_MAINTAINER:-The Deed authors <deed@example.org>}

make_deb() {
    make_package deed "entitlement and subscription state service" "postgresql, curl" <<'TEXT'
Deed records who may use what, until when, and why. It proves what the App
Store signed, records it as events that never change, and answers back ends
over HTTP.
TEXT
    make_package deed-practice "practice store to build against Deed" "deed" <<'TEXT'
A fake App Store on this machine: purchases, renewals, refunds and trouble,
by a clock that a test moves or at the pace of the sandbox.
TEXT
}

# make_package NAME SUMMARY RECOMMENDED: makes a package, with its description on standard input.
make_package() {
    local name=$1 summary=$2 recommended=$3 tree=$scratch/$1 description
    description=$(sed 's/^/ /')
    lay "$tree/usr" "$name"
    mkdir -p "$tree/usr/share/doc/$name" "$tree/DEBIAN"
    copyright >"$tree/usr/share/doc/$name/copyright"
    changelog "$name" | gzip -9n >"$tree/usr/share/doc/$name/changelog.gz"
    if [ "$name" = deed ]; then lay_service "$tree"; fi
    cat >"$tree/DEBIAN/control" <<CONTROL
Package: $name
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$tree" | cut -f1)
Depends: $(dependencies "$tree/usr/bin/$name")$([ "$name" != deed ] || echo ", adduser, ca-certificates")
Recommends: $recommended
Section: net
Priority: optional
Description: $summary
$description
CONTROL
    settle_times "$tree"
    local package=$out/${name}_${version}_${architecture}.deb
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >&2
    say "made $package"
}

copyright() {
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' 'Upstream-Name: Deed' '' \
        'Files: *' 'Copyright: 2026 the Deed authors' 'License: other'
    license_text | sed -e 's/^$/./' -e 's/^/ /'
}

changelog() {
    printf '%s (%s) unstable; urgency=medium\n\n  * Release %s, of commit %s. CHANGELOG.md has the changes.\n\n -- %s  %s\n' \
        "$1" "$version" "$version" "$commit" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

# Adds the parts that only the service's package has: units, settings, and the maintainer scripts.
lay_service() {
    local tree=$1 name
    for name in deed.service deed-{reconcile,backup}.{service,timer}; do
        mkdir -p "$tree/usr/lib/systemd/system"
        unit "$name" /usr/bin >"$tree/usr/lib/systemd/system/$name"
    done
    # The first installation copies this to /etc/deed. The package does not own the copy, because `deed setup` changes
    # it.
    install -D -m 644 "$root/scripts/packaging/environment" "$tree/usr/share/deed/environment"
    cp -r "$root/deploy/monitoring" "$root/deploy/proxies" "$tree/usr/share/deed/"
    find "$tree/usr/share/deed" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    for name in postinst prerm postrm; do
        install -m 755 "$root/scripts/packaging/$name" "$tree/DEBIAN/$name"
    done
}
