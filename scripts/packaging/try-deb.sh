# Sourced by scripts/try-packages: the Debian package in empty systems.
# shellcheck shell=bash disable=SC2154

try_deb() {
    local name tried=''
    before_package
    for name in ${systems//,/ }; do
        if make_system "$name"; then
            try_deb_in "$name" "$scratch/$name"
            tried=yes
        else
            say "SKIPPED: this machine's package source has no $name"
        fi
        rm -rf "${scratch:?}/$name"
    done
    [ -n "$tried" ] || fail "no system could be made to try the package in; see the lines above"
}

# Finds the earlier package: either the given one, or this one with an older number.
before_package() {
    if [ -n "$before" ]; then return; fi
    dpkg-deb --raw-extract "$package" "$scratch/before"
    sed -i 's/^Version: .*/Version: 0.0.1/' "$scratch/before/DEBIAN/control"
    before=$scratch/deed_0.0.1.deb
    dpkg-deb --root-owner-group -Znone --build "$scratch/before" "$before" >&2
    rm -rf "$scratch/before"
}

# Makes an empty system that knows its available packages: make_system NAME
make_system() {
    local sources
    # shellcheck source=scripts/packaging/sources.sh
    . "$root/scripts/packaging/sources.sh"
    sources=$(apt_sources "$1")
    [ -n "$sources" ] || return 1
    mmdebstrap --quiet --variant=minbase --mode=root --skip=cleanup/apt/lists "$1" "$scratch/$1" <<<"$sources" >&2 || return 1
    # Packages must not start servers in that system.
    printf '#!/bin/sh\nexit 101\n' >"$scratch/$1/usr/sbin/policy-rc.d"
    chmod 755 "$scratch/$1/usr/sbin/policy-rc.d"
    mkdir "$scratch/$1/packages"
    cp "$before" "$scratch/$1/packages/before.deb"
    cp "$package" "$scratch/$1/packages/deed.deb"
}

# Runs a script in a system: inside FOLDER net|alone SCRIPT. With `alone`, the script has no network.
inside() {
    local folder=$1 network=() up=:
    if [ "$2" = alone ]; then network=(--net) up='ip link set lo up'; else
        cp /etc/resolv.conf "$folder/etc/resolv.conf"
    fi
    unshare --mount --pid --fork --kill-child ${network[@]+"${network[@]}"} bash -c "
        set -e; $up; mount -t proc proc '$folder/proc'; mkdir -p '$folder/dev/shm'; mount -t tmpfs tmpfs '$folder/dev/shm'
        exec chroot '$folder' /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            bash -euo pipefail -c \"\$1\"" bash "$3"
}

# Prints the size of a system on disk, without downloaded packages and databases.
size() { du -sk --exclude=var/cache --exclude=var/lib/apt --exclude=var/lib/deed/postgres --exclude=packages "$1" | cut -f1; }

install_line='apt-get install -y -q --no-install-recommends --allow-downgrades -o Dpkg::Use-Pty=0'

# Prints a script that serves in the background and reads the customer of the earlier grant: read_script [COMMANDS]
read_script() {
    cat <<TEXT
set -a; . /etc/deed/environment; set +a
deed serve 2>/var/tmp/serve.log & server=\$!
${1:-}
answer=\$(curl -fsS --retry 60 --retry-delay 1 --retry-connrefused -H "Authorization: Bearer \$(cat /var/lib/deed/keys/reader)" \
    http://127.0.0.1:8080/v1/customers/player-1/entitlements)
kill \$server; wait \$server || true
printf '%s\n' "\$answer"
grep -q '"pro":{"active":true' <<<"\$answer"
TEXT
}
grant="deed grant --customer player-1 --entitlement pro --for P30D --reason 'first steps' --idempotency-key first-steps"

try_deb_in() {
    local name=$1 folder=$2 started taken kilobytes
    say "$name: PostgreSQL"
    inside "$folder" net "apt-get install -y -q --no-install-recommends postgresql" >"$scratch/$name.log" 2>&1 ||
        { tail "$scratch/$name.log" >&2; fail "$name has no PostgreSQL"; }
    kilobytes=$(size "$folder")
    started=$(date +%s%N)
    inside "$folder" net "$install_line curl /packages/deed.deb" >"$scratch/$name.log" 2>&1 ||
        { tail "$scratch/$name.log" >&2; fail "$name does not take the package"; }
    grep -q 'Set it up with: deed setup' "$scratch/$name.log" || fail "$name: the package does not say how to continue"
    inside "$folder" alone "deed setup --yes; $(read_script "$grant")" >&2 || fail "$name: no first read"
    taken=$((($(date +%s%N) - started) / 1000000))
    kilobytes=$(($(size "$folder") - kilobytes))
    say "$name: from the package to a first read in $((taken / 1000)).$(printf %03d $((taken % 1000))) s, $((kilobytes / 1024)) MB, PostgreSQL apart"
    [ "$taken" -le 60000 ] || fail "$name: that is more than 60 s"
    [ "$kilobytes" -le $((150 * 1024)) ] || fail "$name: that is more than 150 MB"
    cmp "$folder/usr/bin/deed" "$programs/deed" || fail "$name: the installed program is not the one that was built"
    try_removal "$name" "$folder"
    try_upgrade "$name" "$folder"
    try_service "$name" "$folder"
}

try_removal() {
    local name=$1 folder=$2 said
    said=$(inside "$folder" alone "dpkg --remove deed 2>&1; test -e /etc/deed/environment; dpkg --purge deed 2>&1") ||
        fail "$name: the package cannot be removed: $said"
    grep -q 'data of Deed stays in /var/lib/deed' <<<"$said" || fail "$name: purging does not say where the data is"
    [ -f "$folder/var/lib/deed/postgres/PG_VERSION" ] || fail "$name: purging took the data"
    if [ -e "$folder/usr/bin/deed" ] || [ -e "$folder/etc/deed" ]; then fail "$name: purging left the program or its settings"; fi
    say "$name: purged; the data stays, and the last line says where"
}

# An earlier package starts with the remaining data. Then this package replaces it, is downgraded, and is installed
# again.
try_upgrade() {
    local name=$1 folder=$2 step
    for step in before deed before deed; do
        inside "$folder" net "$install_line /packages/$step.deb" >"$scratch/$name.log" 2>&1 ||
            { tail "$scratch/$name.log" >&2; fail "$name does not take the package $step"; }
        inside "$folder" alone "deed setup --yes --json >/var/tmp/setup.json; $(read_script)" >&2 ||
            fail "$name: no read with the package $step"
    done
    # At the first setup, only the settings are missing, because the purge removed them. At the second one, nothing is
    # missing.
    python3 - "$folder/var/tmp/setup.json" <<'CODE' || fail "$name: setup made something a second time"
import json, sys
states = [step["state"] for step in json.load(open(sys.argv[1]))["steps"]]
sys.exit(set(states) != {"there"})
CODE
    say "$name: upgraded from $(dpkg-deb --field "$before" Version) to $version with its data, back, and again"
}

# With systemd, setup starts the service. Without systemd here, a stand-in records the calls.
try_service() {
    local name=$1 folder=$2 words
    # shellcheck disable=SC2016
    inside "$folder" alone '
        mkdir -p /run/systemd/system
        printf "#!/bin/sh\necho \"\$*\" >>/var/tmp/asked; case \$1 in is-*) exit 3;; esac\n" >/usr/local/bin/systemctl
        chmod 755 /usr/local/bin/systemctl; export PATH=/usr/local/bin:$PATH
        deed setup --yes; cat /var/tmp/asked; rm -r /run/systemd /usr/local/bin/systemctl' >"$scratch/$name.log" 2>&1 ||
        { cat "$scratch/$name.log" >&2; fail "$name: setup does not start the service"; }
    for words in 'enable deed.service' 'restart deed.service'; do
        grep -qx "$words" "$scratch/$name.log" || { cat "$scratch/$name.log" >&2; fail "$name: setup does not ask systemd: $words"; }
    done
    say "$name: setup has systemd start the service"
}
