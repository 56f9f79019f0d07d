#!/bin/sh
# Installs a package into a fresh system, with what it depends on, and runs the demonstration there.
#
#   packaging/try-deb.sh FILE.deb [SUITE [MIRROR]]
#
# Needs root, debootstrap and the network; the system is a folder that is gone afterwards. SUITE is the
# distribution that this one is, unless it is given. The last line says how long installing took.
set -eu

fail() {
	printf 'try-deb.sh: %s\n' "$1" >&2
	exit 1
}

[ $# -ge 1 ] || fail "usage: packaging/try-deb.sh FILE.deb [SUITE [MIRROR]]"
package=$1
[ -f "$package" ] || fail "no such file: $package"
[ "$(id -u)" -eq 0 ] || fail "only root can make a system"
command -v debootstrap >/dev/null || fail "debootstrap is missing"
suite=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
mirror=${3:-http://deb.debian.org/debian}

work=$(mktemp -d)
root=$work/root
clean() {
	status=$?
	if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
	# With something mounted there, this would remove what is not ours.
	if mountpoint -q "$root/proc"; then fail "$root/proc is still mounted; nothing was removed"; fi
	rm -rf --one-file-system "$work"
	exit "$status"
}
trap clean EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work"
mkdir "$root"

debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	fail "debootstrap failed"
}
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/git-invdiff.deb"
in_it() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		chroot "$@"
}
in_it "$root" apt-get update -qq

begin=$(date +%s.%N)
in_it "$root" apt-get install -y -qq --no-install-recommends /tmp/git-invdiff.deb >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	fail "the package cannot be installed"
}
end=$(date +%s.%N)

# As somebody who may write nothing but a temporary folder.
in_it --userspec=nobody:nogroup "$root" sh -c 'cd /tmp && git invdiff --no-pager demo'
for file in man/man1/git-invdiff.1.gz bash-completion/completions/git-invdiff doc/git-invdiff/copyright; do
	[ -s "$root/usr/share/$file" ] || fail "/usr/share/$file is missing"
done
in_it "$root" apt-get remove -y -qq git-invdiff >/dev/null 2>&1
[ ! -e "$root/usr/bin/git-invdiff" ] || fail "the package cannot be removed"
echo "installed from $(basename "$package") in $(echo "$end $begin" | awk '{ printf "%.1f", $1 - $2 }') s"
