#!/bin/sh
# Makes git-invdiff-VERSION-SYSTEM.tar.gz of a built program, with its manual pages and completions.
#
#   packaging/tarball.sh BINARY FOLDER
#
# The program is linked to the system's Z3, which the tarball does not bring.
set -eu

[ $# -eq 2 ] || { echo "usage: packaging/tarball.sh BINARY FOLDER" >&2; exit 2; }
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml")
name=git-invdiff-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
mkdir -p "$2"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/stage.sh" "$1" "$work/$name"
tar -C "$work" -czf "$2/$name.tar.gz" "$name"
echo "$2/$name.tar.gz"
