# Sourced by scripts/try-packages: the bytes of the packages.
# shellcheck shell=bash disable=SC2154

try_bytes() {
    local program
    for program in deed deed-practice; do
        dpkg-deb --fsys-tarfile "$packages/${program}_${version}_${architecture}.deb" |
            tar --extract --to-stdout "./usr/bin/$program" | cmp - "$programs/$program" ||
            fail "the package's $program is not the one that was built"
    done
    say "the packaged programs equal the built ones"
    lintian --allow-root --fail-on error "$packages"/*_"$version"_"$architecture".deb >&2 ||
        fail "lintian finds errors; they are above"
    say "lintian finds no errors"
    pack_again
}

# Packs the same files again. With the same file times, the bytes must be equal.
pack_again() {
    local kinds=(deb tar) file
    [ ! -f "$packages/deed-$version-$architecture.oci.tar" ] || kinds+=(image)
    SOURCE_DATE_EPOCH=$(tar --list --verbose --full-time --utc --file "$packages/deed-$version-linux-$architecture.tar.gz" ./ |
        awk 'NR == 1 { print $4, $5, "UTC" }' | date --file=- +%s) \
        "$root/scripts/package" "${kinds[@]}" --version "$version" --programs "$programs" --out "$scratch/again" >&2
    for file in "$scratch"/again/*; do
        # Only the maker of a signed tar file can repeat its signature.
        if tar --list --file "$packages/${file##*/}" 2>/dev/null | grep -q 'SHA256SUMS\.sig$'; then continue; fi
        cmp "$file" "$packages/${file##*/}" || fail "${file##*/} has other bytes when packed again"
    done
    rm -rf "$scratch/again"
    say "packing again gives the same bytes"
}
