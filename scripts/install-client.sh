#!/bin/sh
# Usage: install-client.sh [FOLDER]
# Installs the client that the end-to-end tests drive, by npm, and prints the path
# of its program. FOLDER is STRANDLINE_CACHE or .cache in the repository. Nothing
# outside it is touched, and an installed client is left as it is. With
# STRANDLINE_CLIENT set, that program is the client and nothing is installed.
set -eu
version=2.1.329
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-${STRANDLINE_CACHE:-$root/.cache}}
target=$folder/client-$version

say() { echo "install-client: $*" >&2; }

if [ -n "${STRANDLINE_CLIENT:-}" ]; then
	echo "$STRANDLINE_CLIENT"
	exit 0
fi
if [ -x "$target/claude" ]; then
	echo "$target/claude"
	exit 0
fi
command -v npm >/dev/null || { say "npm is needed to install the client"; exit 1; }

mkdir -p "$folder"
work=$(mktemp -d "$folder/client.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
say "installing @anthropic-ai/claude-code@$version into $target"
# The program is native and stands in a package of its own for each platform: no
# install script has to run, and no Node of a certain age is needed.
npm install --prefix "$work" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
	"@anthropic-ai/claude-code@$version" >&2

for program in "$work"/node_modules/@anthropic-ai/claude-code-*/claude*; do
	[ -f "$program" ] || continue
	chmod +x "$program"
	found=$("$program" --version 2>/dev/null) || continue
	case "$found" in "$version "*) ;; *) continue ;; esac
	mkdir -p "$work/out"
	mv "$program" "$work/out/claude"
	# Two installations at a time: the first to get here wins.
	mv "$work/out" "$target" 2>/dev/null || [ -x "$target/claude" ]
	echo "$target/claude"
	exit 0
done
say "npm brought no program for this platform"
exit 1
