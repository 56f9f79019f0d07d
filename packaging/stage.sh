#!/bin/sh
# Lays out what a package installs: the program, its manual pages, completions and documents.
#
#   packaging/stage.sh BINARY FOLDER
#
# BINARY is a built git-invdiff that runs here; FOLDER is what becomes /usr, or the top of a tarball.
set -eu
umask 022

[ $# -eq 2 ] || { echo "usage: packaging/stage.sh BINARY FOLDER" >&2; exit 2; }
binary=$1 to=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
share=$to/share

mkdir -p "$to/bin" "$share/man/man1" "$share/doc/git-invdiff" "$share/bash-completion/completions" \
	"$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
cp "$binary" "$to/bin/git-invdiff"
chmod 755 "$to/bin/git-invdiff"
program=$(CDPATH='' cd -- "$to/bin" && pwd)/git-invdiff

"$program" --quiet man "$share/man/man1"
"$program" completions bash >"$share/bash-completion/completions/git-invdiff"
"$program" completions zsh >"$share/zsh/vendor-completions/_git-invdiff"
"$program" completions fish >"$share/fish/vendor_completions.d/git-invdiff.fish"
for file in README.md CHANGELOG.md LICENSE; do
	cp "$here/$file" "$share/doc/git-invdiff/$file"
	chmod 644 "$share/doc/git-invdiff/$file"
done
