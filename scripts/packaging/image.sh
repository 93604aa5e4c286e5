# Sourced by scripts/package: an image for containers, and the list of its contents.
# shellcheck shell=bash disable=SC2154

make_image() {
    "$root/scripts/install-packages" mmdebstrap python3 curl
    local system=$scratch/image
    say "making a small system of this distribution's packages"
    # The image's assembly needs root, because it runs the distribution's programs.
    [ "$(id -u)" -eq 0 ] || fail "only root can make an image; run it with sudo"
    local name sources included
    included=$(image_packages) && [[ $included = *libpq5* ]] || fail "cannot find the packages of the programs' libraries: $included"
    name=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck source=scripts/packaging/sources.sh
    . "$root/scripts/packaging/sources.sh"
    sources=$(apt_sources "$name")
    [ -n "$sources" ] || fail "this machine's package source has no packages of $name"
    mmdebstrap --quiet --variant=essential --mode=root --include="$included" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        "$name" "$system" <<<"$sources" >&2
    rm -rf "${system:?}"/var/cache/* "${system:?}"/var/lib/apt/lists/* "${system:?}"/var/log/* "${system:?}"/tmp/* "${system:?}"/dev/* \
        "$system/etc/machine-id" "$system/etc/resolv.conf" "$system/etc/hostname"
    install -m 755 "$programs/deed" "$programs/deed-practice" "$system/usr/bin/"
    echo 'deed:x:999:999:Deed:/var/lib/deed:/usr/sbin/nologin' >>"$system/etc/passwd"
    echo 'deed:x:999:' >>"$system/etc/group"
    install -d -o 999 -g 999 -m 700 "$system/var/lib/deed"
    name=$out/deed-$version-$architecture
    python3 "$root/scripts/packaging/bill.py" "$system" "$version" "$commit" >"$name.spdx.json"
    tar --create --directory="$system" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --clamp-mtime --numeric-owner --format=posix \
        --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime . >"$scratch/layer.tar"
    python3 "$root/scripts/packaging/oci.py" "$scratch/layer.tar" "$version" "$commit" "$architecture" >"$name.oci.tar"
    say "made $name.oci.tar"
}

# Prints the packages that contain the libraries of both programs.
image_packages() {
    { dependencies "$programs/deed"; echo ', '; dependencies "$programs/deed-practice"; } | tr -d '\n' | tr ',' '\n' |
        sed -e 's/(.*//' -e 's/ //g' | grep . | sort -u | paste -sd, | sed 's/$/,ca-certificates/'
}
