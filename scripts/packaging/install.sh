#!/bin/sh
# Installs Deed from the folder of this script, or removes an installation.
set -eu

usage() {
    cat <<'TEXT'
usage: ./install.sh [--prefix FOLDER] [--key FILE]
       ./install.sh --remove [--prefix FOLDER]

Compares every file with its digest, and the digests with their signature, then copies the programs,
the manual and the completion below FOLDER. Root also gets the units of systemd.

  --prefix FOLDER   /usr/local for root, else ~/.local
  --key FILE        the public key in PEM that must have signed this release, such as an earlier release's
  --remove          remove the installed files; your data stays

Deed needs PostgreSQL 14 or newer: a server of your own, or the programs of one for a private database.
TEXT
}

# For a signed release, scripts/package inserts the public key here.
release_key=''

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "error: $*" >&2; exit 1; }

if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
key='' remove=''
while [ $# -gt 0 ]; do
    case "$1" in
    -h | --help) usage; exit 0 ;;
    --remove) remove=yes; shift ;;
    --prefix | --key)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        case "$1" in --prefix) prefix=$2 ;; --key) key=$2 ;; esac
        shift 2
        ;;
    *) printf '%s\n' "error: unexpected argument: $1; see: ./install.sh --help" >&2; exit 2 ;;
    esac
done
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac
case $key in
'' | /*) ;;
*) key=$PWD/$key ;;
esac
# The list of everything that this script created. Folders end with a slash.
list=$prefix/lib/deed/installed-files

if [ -n "$remove" ]; then
    [ -f "$list" ] || fail "nothing was installed below $prefix by this script: $list does not exist"
    grep -v '/$' "$list" | while IFS= read -r file; do rm -f "$prefix/$file"; done
    folders=$(grep '/$' "$list" | sort -ru)
    rm -f "$list"
    # Removes the deepest folders first. Keeps a folder that contains other files.
    printf '%s\n' "$folders" | while IFS= read -r folder; do
        rmdir "$prefix/${folder#./}" 2>/dev/null || true
    done
    say "Deed was removed from $prefix. Its data stays where it was: /var/lib/deed for root, ~/.local/share/deed for other users."
    exit 0
fi

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
[ -f SHA256SUMS ] || fail "SHA256SUMS is not beside this script; unpack the whole release again"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$key" ]; then cp "$key" "$scratch/key"; else printf '%s\n' "$release_key" >"$scratch/key"; fi
if [ -n "$key$release_key" ]; then
    command -v openssl >/dev/null || fail "cannot check the signature without openssl; install the package openssl"
    [ -f SHA256SUMS.sig ] || fail "SHA256SUMS.sig is missing: this release is not signed"
    openssl pkeyutl -verify -rawin -pubin -inkey "$scratch/key" -in SHA256SUMS -sigfile SHA256SUMS.sig >/dev/null 2>&1 ||
        fail "the digests of this release are not signed by the expected key; download it again from a source that you trust"
else
    say "This release is not signed; only its digests are checked."
fi
sha256sum --check --strict --quiet SHA256SUMS >"$scratch/digests" 2>&1 || {
    cat "$scratch/digests" >&2
    fail "a file differs from its digest; download the release again"
}

missing=$(ldd bin/deed 2>&1 | sed -n -e 's/^[[:space:]]*\(.*\) => not found$/\1/p' -e 's/.*\(version `[^ ]*\x27 not found\).*/\1/p' | sort -u | paste -sd ' ' -)
[ -z "$missing" ] || fail "this system lacks: $missing. On Debian and Ubuntu: apt-get install libpq5 libssl3 libmicrohttpd12 libcurl4 libqrencode4 libjemalloc2"

cut -c67- SHA256SUMS | grep -E '^(bin|share)/' >"$scratch/files"
if [ "$(id -u)" -eq 0 ]; then cut -c67- SHA256SUMS | grep -E '^lib/systemd/' >>"$scratch/files" || true; fi
if grep -qF '..' "$scratch/files"; then fail "a name in SHA256SUMS leads out of its folder; download the release again"; fi

# Creates a folder below the prefix, and records each new one: make_folder RELATIVE
make_folder() {
    [ ! -d "$prefix/$1" ] || return 0
    case $1 in */*) make_folder "${1%/*}" ;; esac
    mkdir "$prefix/$1"
    printf '%s/\n' "$1" >>"$scratch/folders"
}
: >"$scratch/folders"
if [ ! -d "$prefix" ]; then
    mkdir -p "$prefix"
    echo ./ >"$scratch/folders"
fi
make_folder lib/deed
touch "$list"
cp "$list" "$scratch/before"
while IFS= read -r file; do make_folder "$(dirname "$file")"; done <"$scratch/files"
# The list is written before the files are copied, so that an interrupted installation can be removed.
sort -u "$scratch/before" "$scratch/folders" "$scratch/files" >"$scratch/list"
cp "$scratch/list" "$list"
while IFS= read -r file; do
    # The file is renamed into place, so that a running program keeps the old one.
    cp -p "$file" "$prefix/$file.new"
    case $file in lib/systemd/*) sed -i "s|/usr/local/bin/deed|$prefix/bin/deed|" "$prefix/$file.new" ;; esac
    mv "$prefix/$file.new" "$prefix/$file"
done <"$scratch/files"
# Removes files that an earlier release had and this one lacks.
grep -v '/$' "$scratch/before" | grep -vxFf "$scratch/files" | while IFS= read -r file; do rm -f "$prefix/$file"; done
{ grep '/$' "$scratch/list" || true; cat "$scratch/files"; } | sort -u >"$list"

say "Deed is installed in $prefix/bin."
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) say "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
say "Set it up: deed setup"
