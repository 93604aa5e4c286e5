# Sourced by scripts/try-packages: installs the tar file as an ordinary user does, in an empty system.
# shellcheck shell=bash disable=SC2154

try_tar() {
    local name=${systems%%,*} file=$packages/deed-$version-linux-$architecture.tar.gz folder said
    # shellcheck source=scripts/packaging/try-deb.sh
    . "$root/scripts/packaging/try-deb.sh"
    before=$package
    make_system "$name" || fail "this machine's package source has no $name"
    folder=$scratch/$name
    cp "$file" "$folder/packages/deed.tar.gz"
    inside "$folder" net "apt-get install -y -q --no-install-recommends postgresql curl openssl ca-certificates" >"$scratch/$name.log" 2>&1 ||
        { tail "$scratch/$name.log" >&2; fail "$name has no PostgreSQL"; }
    said=$(inside "$folder" alone "useradd --create-home me; cd /home/me; runuser -u me -- tar xzf /packages/deed.tar.gz --strip-components=2
        runuser -u me -- ./install.sh 2>&1" || true)
    grep -q 'this system lacks: .*libmicrohttpd' <<<"$said" || fail "$name: install.sh does not name the missing libraries: $said"
    [ ! -e "$folder/home/me/.local" ] || fail "$name: install.sh copied files despite missing libraries"
    say "$name: $(sed -n 's/.*\(this system lacks: .*\)\. On Debian.*/\1/p' <<<"$said")"
    inside "$folder" net "$(sed -n 's/.*On Debian and Ubuntu: \(apt-get install\) \(.*\)/\1 -y -q --no-install-recommends \2/p' <<<"$said")" \
        >"$scratch/$name.log" 2>&1 || { tail "$scratch/$name.log" >&2; fail "$name: the packages that install.sh names cannot be installed"; }
    inside "$folder" alone "cd /home/me; runuser -u me -- bash -euc '
        export HOME=/home/me; before=\$(find . | sort); ./install.sh; PATH=\$HOME/.local/bin:\$PATH; deed setup --yes
        set -a; . ~/.local/share/deed/environment; set +a; deed serve 2>/dev/null & server=\$!
        deed grant --customer player-1 --entitlement pro --for P30D --reason first
        curl -fsS --retry 60 --retry-delay 1 --retry-connrefused -H \"Authorization: Bearer \$(cat ~/.local/share/deed/keys/reader)\" \
            http://127.0.0.1:8080/v1/customers/player-1/entitlements | grep -q \"\\\"pro\\\":{\\\"active\\\":true\"
        kill \$server; wait \$server || true
        ./install.sh --remove; [ -f ~/.local/share/deed/postgres/PG_VERSION ]
        [ -z \"\$(find ~/.local -path ~/.local/share/deed -prune -o -type f -print)\" ]'" >&2 ||
        fail "$name: the tar file cannot be installed, read from and removed"
    rm -rf "$folder"
    say "$name: an ordinary user installed Deed, read, and removed all but the data"
}
