# Sourced by scripts that build systems from Debian packages.
# shellcheck shell=bash disable=SC2154

# Prints this machine's package sources for a system of the same release or of another one, or nothing if they lack
# that release: apt_sources NAME
apt_sources() {
    local own line uri
    own=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
        awk -F'|' '$4 ~ /Debian|Ubuntu/ { print "deb " $1 " " $2 " " $3 }' | sort -u |
        sed "s/ $own\\b/ $1/" | while IFS= read -r line; do
            uri=$(cut -d' ' -f2 <<<"$line")
            if curl -fsSL -o /dev/null -m 60 "${uri%/}/dists/$(cut -d' ' -f3 <<<"$line")/InRelease" 2>/dev/null; then echo "$line"; fi
        done
}
