#!/usr/bin/env bash
# Usage: pictures.sh BIN
# Rewrites docs/terminal.svg from real output of the build in folder BIN over the
# bundled demo sessions, and docs/page*.png over generated ones. Needs script
# (util-linux) and Chromium; a missing one leaves its pictures as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:-bin}" && pwd)
work=$(mktemp -d)
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
"${GO:-go}" build -o "$work/picture" ./bench/cmd/picture
home=$HOME
export HOME=$work/home STRANDLINE_HOME=$work/archive TZ=UTC LANG=C.UTF-8 TERM=xterm-256color
mkdir -p "$HOME/.claude/projects/-src-tidewater"
cp -r internal/cli/demo/session/* "$HOME/.claude/projects/-src-tidewater/"
"$bin/strandline" import >/dev/null

show() { # a prompt with the command, then its output as a terminal shows it
	printf '\033[2m$\033[0m \033[1mstrandline %s\033[0m\n' "$1"
	script -qec "stty cols 100 rows 50; '$bin/strandline' $1" /dev/null | head -n "${2:-14}"
	echo
}
if command -v script >/dev/null; then
	{
		show 'search --all "which port does the mock gateway listen on"' 14
		show 'show 7f3a12cd/4.3' 12
		show 'compactions --all' 8
	} | "$work/picture" -columns 100 -title 'strandline search, show and compactions' >"$work/terminal.svg"
	mv "$work/terminal.svg" docs/terminal.svg
else
	echo "pictures: no script program; docs/terminal.svg is unchanged" >&2
fi

HOME=$home "${GO:-go}" test ./e2e -run TestPictures -count=1 -args -pictures "$PWD/docs"
