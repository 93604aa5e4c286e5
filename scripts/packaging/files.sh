# Sourced by scripts/package: the files of every kind of package.
# shellcheck shell=bash disable=SC2154

# Writes all files of a package into a folder, with the layout of /usr or of another prefix: lay FOLDER PROGRAM
lay() {
    local folder=$1 program=$2
    install -D -m 755 "$programs/$program" "$folder/bin/$program"
    mkdir -p "$folder/share/man/man1" "$folder/share/bash-completion/completions" "$folder/share/zsh/vendor-completions" \
        "$folder/share/fish/vendor_completions.d"
    "$programs/$program" manual | gzip -9n >"$folder/share/man/man1/$program.1.gz"
    "$programs/$program" completion bash >"$folder/share/bash-completion/completions/$program"
    "$programs/$program" completion zsh >"$folder/share/zsh/vendor-completions/_$program"
    "$programs/$program" completion fish >"$folder/share/fish/vendor_completions.d/$program.fish"
    if [ "$program" = deed ]; then lay_pages "$folder/share/doc/deed"; fi
}

# Writes the pages to which messages and units refer: lay_pages FOLDER
lay_pages() {
    mkdir -p "$1/docs"
    install -m 644 "$root"/docs/*.md "$1/docs/"
    cp -r "$root/docs/examples" "$1/docs/"
}

# Prints a unit from deploy/ for a program in that folder: unit NAME FOLDER
unit() { sed "s|/usr/local/bin/deed|$2/deed|" "$root/deploy/$1"; }

# Prints the text of LICENSE, or a sentence that there is none.
license_text() {
    if [ -f "$root/LICENSE" ]; then cat "$root/LICENSE"; else
        echo "No license was chosen for Deed. Without one, its authors keep all rights."
    fi
}

# Gives every file in a folder the same time, so that equal contents give equal archives.
settle_times() { find "$1" -depth -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }

# Makes a tar archive whose bytes depend only on the folder's contents: plain_tar FOLDER >FILE
plain_tar() {
    tar --create --directory="$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --format=posix --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime .
}

# Prints the distribution's packages that contain the libraries of a program.
dependencies() {
    command -v dpkg-shlibdeps >/dev/null || { "$root/scripts/install-packages" dpkg-dev; } >&2
    local at=$scratch/shlibdeps
    mkdir -p "$at/debian"
    printf 'Source: deed\n\nPackage: deed\nArchitecture: any\n' >"$at/debian/control"
    (cd "$at" && dpkg-shlibdeps -O --ignore-missing-info "$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
