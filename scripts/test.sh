#!/usr/bin/env bash
# Runs go test with the given arguments over all packages. Prints one line per
# package, the full output of failures, and one line per skipped test with the
# reason. go vet is a separate target, so tests do not run it again. Many tests
# wait for other processes, so more of them run at once than there are cores.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT

"${GO:-go}" test -vet=off -parallel 4 -v "$@" ./... 2>&1 | tee "$log" | grep --line-buffered -E '^(ok|FAIL|\?) '
code=${PIPESTATUS[0]}

if [ "$code" -ne 0 ]; then
	printf '\n== what failed\n'
	grep -vE '^(=== (RUN|PAUSE|CONT|NAME)|[[:space:]]*--- (PASS|SKIP)|PASS$|(ok|\?)[[:space:]])' "$log"
fi
printf '\n== skipped, with the reason\n'
# With -v the reason is in the previous line.
awk '/^[[:space:]]+[A-Za-z0-9_]+\.go:[0-9]+: / { reason = $0; next } /--- SKIP/ { print; print reason; reason = "" } /--- (PASS|FAIL)/ { reason = "" }' "$log"
# The packages again, so that the last lines show the outcome.
printf '\n'
grep -E '^(ok|FAIL)[[:space:]]' "$log"
exit "$code"
