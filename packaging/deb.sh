#!/bin/sh
# Makes git-invdiff_VERSION_ARCH.deb for the Debian or Ubuntu that it runs on.
#
#   packaging/deb.sh                   builds the program first
#   BINARY=FILE packaging/deb.sh       takes one that is built
#   OUT=FOLDER packaging/deb.sh        writes there instead of into target/
#
# Needs dpkg-dev, which knows the packages of the libraries that the program is linked to. MAINTAINER is the
# field of that name; without it, it is the author of the last commit.
set -eu
umask 022

fail() {
	printf 'deb.sh: %s\n' "$1" >&2
	exit 1
}

cd "$(dirname -- "$0")/.."
command -v dpkg-shlibdeps >/dev/null || fail "dpkg-shlibdeps is missing; install dpkg-dev"
if [ -z "${BINARY-}" ]; then
	cargo build --release --locked
	BINARY=${CARGO_TARGET_DIR:-target}/release/git-invdiff
fi
[ -x "$BINARY" ] || fail "'$BINARY' is no program"

version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
arch=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
# The same commit makes the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
out=${OUT:-${CARGO_TARGET_DIR:-target}}
mkdir -p "$out"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
packaging/stage.sh "$BINARY" "$root/usr"
"$root/usr/bin/git-invdiff" --version | grep -qF " $version" || fail "'$BINARY' is not version $version"

# Debian's names and forms of the documents.
doc=$root/usr/share/doc/git-invdiff
mv "$doc/CHANGELOG.md" "$doc/changelog"
rm "$doc/LICENSE"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: git-invdiff

Files: *
Copyright: the authors of git-invdiff
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
gzip -9n "$doc/changelog" "$root"/usr/share/man/man1/*.1

mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: git-invdiff\n' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/git-invdiff" | sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || fail "the program's libraries are in no package"
cat >"$root/DEBIAN/control" <<END
Package: git-invdiff
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: git, $libraries
Section: vcs
Priority: optional
Description: which facts about a C program did a commit change?
 A subcommand of git. For every function that a range of commits touches it
 tells the conditions that hold in every version and those that hold only
 before or only after a commit, each with the lines that cause it and an input
 that was replayed in both versions. Sources are read from git's objects:
 nothing is checked out, built or run.
END
(cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2 >DEBIAN/md5sums)

package=$out/git-invdiff_${version}_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
