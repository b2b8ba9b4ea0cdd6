#!/usr/bin/env bash
# Usage: pictures.sh BIN
# Rewrites docs/terminal.svg and docs/page.png from real output of the build in
# folder BIN, over the bundled demo sessions. Needs script (util-linux), npm
# and Chromium; a missing one leaves its picture as it is and is reported.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:-bin}" && pwd)
work=$(mktemp -d)
trap 'kill "${server:-0}" 2>/dev/null || true; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
"${GO:-go}" build -o "$work/picture" ./bench/cmd/picture
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

if command -v chromium >/dev/null && npm install --prefix "$work" --no-save --no-audit --no-fund --loglevel=error playwright-core@1.64.1; then
	token=strandline-picture-token-0123456789abcdef
	(umask 077 && printf '%s' "$token" >"$work/token")
	"$bin/strandline" serve --listen 127.0.0.1:43199 --token-file "$work/token" >"$work/serve.log" 2>&1 &
	server=$!
	for _ in $(seq 50); do
		grep -q 'open once' "$work/serve.log" && break
		read -rt 0.1 <> <(:) || true
	done
	link=$(sed -n 's/.*open once *//p' "$work/serve.log")
	cat >"$work/page.cjs" <<'JS'
const { chromium } = require('playwright-core');
(async () => {
  const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  await page.goto(process.argv[3], { waitUntil: 'load' });
  await page.goto(new URL('/#/7f3a12cd', process.argv[3]).href);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: process.argv[4] });
  await browser.close();
})().catch((err) => { console.error(err); process.exit(1); });
JS
	NODE_PATH=$work/node_modules timeout 60 node "$work/page.cjs" "$(command -v chromium)" "$link" "$work/page.png"
	mv "$work/page.png" docs/page.png
else
	echo "pictures: no chromium or npm; docs/page.png is unchanged" >&2
fi
