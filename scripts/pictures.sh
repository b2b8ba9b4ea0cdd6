#!/usr/bin/env bash
# Usage: pictures.sh BIN
# Rewrites docs/terminal.svg and docs/terminal/*.svg (at 80 and 120 columns) from real
# output of the build in folder BIN over the bundled demo sessions, and docs/page*.png over generated ones. Needs script
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

columns=100
show() { # a prompt with the command, then the first lines of its output as a terminal shows it
	printf '\033[2m$\033[0m \033[1mstrandline %s\033[0m\n' "$1"
	script -qec "stty cols $columns rows 50; '$bin/strandline' $1" /dev/null </dev/null | sed -n "1,${2:-14}p"
	echo
}
line() { # the statusline in a window of 200,000 tokens that holds so many
	printf '{"session_id":"%s","transcript_path":"%s","model":{"id":"claude-haiku-4-5"},"context_window":{"total_input_tokens":%d,"context_window_size":200000}}' \
		"$session" "$transcript" "$1" | COLUMNS=$columns "$bin/strandline" statusline
}
state() { # what hooks keep of a session: its tokens and its history
	printf '{"sessionId":"%s","lastTokenEstimate":%d,"model":"claude-haiku-4-5","captured":%d,"version":1,"history":[%s]}' \
		"$session" "$1" "$(wc -c <"$transcript")" "${2:-}" >"$STRANDLINE_HOME/state/$session.json"
}
lines() {
	printf '\033[2m# the statusline, as the window fills and after a compaction\033[0m\n'
	state 66000 '{"turns":1,"tokens":30000},{"turns":2,"tokens":42000},{"turns":3,"tokens":54000},{"turns":4,"tokens":66000}'
	line 87000; line 151000; line 194000
	state 18400; line 0
}
if command -v script >/dev/null; then
	export LESS=FRX PAGER=cat
	{
		show 'search --all "which port does the mock gateway listen on"' 14
		show 'show 7f3a12cd/4.3' 12
		show 'stats' 24
	} | sed '${/^$/d;}' | "$work/picture" -columns $columns -title 'strandline search, show and stats' >"$work/terminal.svg"
	mv "$work/terminal.svg" docs/terminal.svg
	transcript=$(ls "$HOME"/.claude/projects/-src-tidewater/7f3a12cd*.jsonl)
	session=$(basename "$transcript" .jsonl)
	mkdir -p "$STRANDLINE_HOME/state"
	mkdir -p docs/terminal
	for columns in 80 120; do
		draw() { sed '${/^$/d;}' | "$work/picture" -columns $columns -title "strandline $1 at $columns columns" >"docs/terminal/$1-$columns.svg"; }
		show 'search --all gateway port' 30 | draw search
		show 'show 7f3a12cd/4' 40 | draw show
		show 'timeline 7f3a12cd' 40 | draw timeline
		show 'stats' 40 | draw stats
		lines | draw statusline
	done
else
	echo "pictures: no script program; the pictures of the terminal are unchanged" >&2
fi

HOME=$home "${GO:-go}" test ./e2e -run TestPictures -count=1 -args -pictures "$PWD/docs"
