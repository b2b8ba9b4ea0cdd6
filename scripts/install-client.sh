#!/bin/sh
# Usage: install-client.sh [FOLDER]
# Installs the client for the end-to-end tests with npm and prints the path of its
# program. FOLDER defaults to STRANDLINE_CACHE or .cache in the repository; nothing
# outside FOLDER changes. An installed client is verified by its checksum and kept.
# STRANDLINE_CLIENT_VERSION selects another version than the one that is tested by default.
# If STRANDLINE_CLIENT is set, its value is printed and nothing is installed.
set -eu
version=${STRANDLINE_CLIENT_VERSION:-2.1.329}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-${STRANDLINE_CACHE:-$root/.cache}}
target=$folder/client-$version

say() { echo "install-client: $*" >&2; }

if [ -n "${STRANDLINE_CLIENT:-}" ]; then
	echo "$STRANDLINE_CLIENT"
	exit 0
fi
if [ -x "$target/claude" ] && (cd "$target" && sha256sum --status -c claude.sha256 2>/dev/null); then
	echo "$target/claude"
	exit 0
fi
rm -rf "$target"
command -v npm >/dev/null || { say "npm is needed to install the client"; exit 1; }

mkdir -p "$folder"
work=$(mktemp -d "$folder/client.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
say "installing @anthropic-ai/claude-code@$version into $target"
# npm verifies the package. The program is native, in one package per platform, so
# install scripts and Node are not needed.
npm install --prefix "$work" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
	"@anthropic-ai/claude-code@$version" >&2

for program in "$work"/node_modules/@anthropic-ai/claude-code-*/claude*; do
	[ -f "$program" ] || continue
	chmod +x "$program"
	found=$("$program" --version 2>/dev/null) || continue
	case "$found" in "$version "*) ;; *) continue ;; esac
	mkdir -p "$work/out"
	mv "$program" "$work/out/claude"
	(cd "$work/out" && sha256sum claude >claude.sha256)
	# Of two concurrent installations the first one wins.
	mv "$work/out" "$target" 2>/dev/null || [ -x "$target/claude" ]
	echo "$target/claude"
	exit 0
done
say "npm brought no program for this platform"
exit 1
