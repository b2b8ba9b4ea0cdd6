#!/bin/sh
# Usage: install-axe.sh [FOLDER]
# Installs axe-core, with which a test checks the accessibility of the page, and
# prints its path. FOLDER is STRANDLINE_CACHE or .cache in the repository; nothing
# outside it changes. An installed one is kept.
set -eu
version=4.14.1
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-${STRANDLINE_CACHE:-$root/.cache}}
target=$folder/axe-core-$version

if [ ! -f "$target/axe.min.js" ]; then
	command -v npm >/dev/null || { echo "install-axe: npm is needed to install axe-core" >&2; exit 1; }
	mkdir -p "$folder"
	work=$(mktemp -d "$folder/axe.XXXXXX")
	trap 'rm -rf "$work"' EXIT INT TERM
	npm install --prefix "$work" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "axe-core@$version" >&2
	# Of two concurrent installations the first one wins.
	mv "$work/node_modules/axe-core" "$target" 2>/dev/null || [ -f "$target/axe.min.js" ]
fi
echo "$target/axe.min.js"
