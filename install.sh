#!/bin/sh
# Installs git-invdiff and its manual pages for this user, and what building them needs.
#
#   ./install.sh                  into ~/.local
#   PREFIX=/usr/local ./install.sh
#   ./install.sh --packages       only what building needs
#
# May be run from anywhere, again and again.
set -eu

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	shift
	for line in "$@"; do printf '  %s\n' "$line" >&2; done
	exit 1
}

have() {
	command -v "$1" >/dev/null 2>&1
}

# Runs commands as root, one an argument.
as_root() {
	for words; do
		if [ "$(id -u)" -eq 0 ]; then
			sh -c "$words" || return
		elif have sudo; then
			sudo sh -c "$words" || return
		else
			fail "packages are missing, and this is neither root nor is there sudo; as root, run:" "$@"
		fi
	done
}

# Whether a Z3 that is new enough can be linked, with the C++ library that it needs; says on standard
# output what is there, or what is wrong.
z3_works() {
	folder=$(mktemp -d) || return
	case $(uname) in Darwin) cxx=c++ ;; *) cxx=stdc++ ;; esac
	cat >"$folder/try.c" <<-'END'
		#include <stdio.h>
		extern void Z3_get_version(unsigned *, unsigned *, unsigned *, unsigned *);
		int main(void)
		{
			unsigned v[4];
			Z3_get_version(v, v + 1, v + 2, v + 3);
			printf("%u.%u.%u\n", v[0], v[1], v[2]);
			return v[0] * 1000000 + v[1] * 1000 + v[2] < 4008012;
		}
	END
	# shellcheck disable=SC2046 # pkg-config prints words
	if cc "$folder/try.c" -o "$folder/try" $(pkg-config --libs z3 2>/dev/null || echo -lz3) "-l$cxx" >"$folder/log" 2>&1
	then
		"$folder/try" 2>&1
	else
		head -n 1 "$folder/log"
		false
	fi
	status=$?
	rm -rf "$folder"
	return $status
}

all_there() {
	have git && have cc && have pkg-config && z3_works >/dev/null
}

install_packages() {
	echo "Installing git, a C and C++ compiler, pkg-config and Z3, as far as they are missing"
	# What goes wrong is judged by what is there afterwards.
	if have apt-get; then
		as_root "apt-get update -qq" \
			"DEBIAN_FRONTEND=noninteractive apt-get install -y -qq git gcc g++ libc6-dev pkg-config libz3-dev"
	elif have dnf; then
		as_root "dnf install -y -q git gcc gcc-c++ pkgconf-pkg-config z3-devel"
	elif have pacman; then
		as_root "pacman -S --needed --noconfirm git gcc pkgconf z3"
	elif have zypper; then
		as_root "zypper --non-interactive install git gcc gcc-c++ pkg-config z3-devel"
	elif have apk; then
		as_root "apk add --quiet git gcc g++ musl-dev pkgconf z3-dev"
	elif have brew; then
		brew install git pkg-config z3
	else
		fail "no package manager that this script knows (apt, dnf, pacman, zypper, apk, brew)" \
			"install git, a C and C++ compiler, pkg-config and Z3 4.8.12 or later with its development files, then run this again"
	fi || echo "install.sh: the package manager failed, with the message above" >&2
	all_there || fail "something is still missing; install it, then run this again" \
		"git: $(command -v git || echo missing)" \
		"compiler: $(command -v cc || echo missing)" \
		"pkg-config: $(command -v pkg-config || echo missing)" \
		"Z3, 4.8.12 or later: $(if have cc; then z3_works; else echo 'not known without a compiler'; fi)"
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here"
# Where cargo installs itself, for shells that have not read its environment yet.
PATH=$PATH:${CARGO_HOME:-${HOME:?}/.cargo}/bin
# Homebrew on ARM keeps its libraries where the linker does not look.
if [ -d /opt/homebrew/lib ]; then
	LIBRARY_PATH=/opt/homebrew/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
	export LIBRARY_PATH
fi

have cargo || fail "Rust is missing" \
	"install it as https://rustup.rs says: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustc --version >/dev/null || fail "rustc does not run" "rustup default stable"
found=$(rustc --version | cut -d ' ' -f 2)
oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -t . -k 1,1n -k 2,2n | head -n 1)
[ "$oldest" = "$wanted" ] || fail "Rust $wanted or later is needed, and this is $found" \
	"run 'rustup update stable', or install it as https://rustup.rs says"

all_there || install_packages
[ "${1-}" != --packages ] || exit 0

echo "Building (this takes a few minutes the first time)"
cargo build --release --locked --bin git-invdiff

prefix=${PREFIX:-$HOME/.local}
target=$(cargo metadata --format-version 1 --no-deps --offline --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
mkdir -p "$prefix/bin" "$prefix/share/man/man1"
# A copy beside it and a rename, so that a running program is not written over.
cp "$target/release/git-invdiff" "$prefix/bin/git-invdiff.new"
mv -f "$prefix/bin/git-invdiff.new" "$prefix/bin/git-invdiff"
"$prefix/bin/git-invdiff" --quiet man "$prefix/share/man/man1"
echo "Installed $prefix/bin/git-invdiff and its manual pages"

on_path=yes
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*)
	on_path=no
	PATH=$prefix/bin:$PATH
	export PATH
	;;
esac

first=$(command -v git-invdiff)
if [ "$first" != "$prefix/bin/git-invdiff" ]; then
	echo "install.sh: warning: $first comes first on your PATH, and is what 'git invdiff' runs" >&2
	PATH=$prefix/bin:$PATH
	export PATH
fi

echo
git invdiff --no-pager demo
echo
if [ "$on_path" = no ]; then
	echo "$prefix/bin is not on your PATH; for this and later shells:"
	echo "  export PATH=\"$prefix/bin:\$PATH\"    # and the same line in ~/.profile"
	echo
fi
echo "In a C repository:   git invdiff HEAD~3..HEAD"
echo "For every commit:    git invdiff hook install    (undo: git invdiff hook uninstall)"
