#!/bin/sh
# Usage: install-npm-client.sh NAME
# Installs a client other than Claude Code for the end-to-end tests with npm, into
# NAME-VERSION below STRANDLINE_CACHE or .cache in the repository, and prints that
# folder. An installed client is kept.
set -eu
case "${1:-}" in
codex) package=@openai/codex version=0.169.0 ;;
*) echo "usage: install-npm-client.sh codex" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${STRANDLINE_CACHE:-$root/.cache}
target=$folder/$1-$version

if [ -d "$target/node_modules" ]; then
	echo "$target"
	exit 0
fi
command -v npm >/dev/null || { echo "install-npm-client: npm is needed to install $package" >&2; exit 1; }
mkdir -p "$folder"
work=$(mktemp -d "$folder/client.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
echo "install-npm-client: installing $package@$version into $target" >&2
# npm verifies the packages; their install scripts do not run.
npm install --prefix "$work" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$package@$version" >&2
rm -rf "$work"/node_modules/@openai/codex-*/vendor/*/codex-resources/voice
# Of two concurrent installations the first one wins.
mv "$work" "$target" 2>/dev/null || [ -d "$target/node_modules" ]
echo "$target"
