#!/usr/bin/env bash
# Runs go test with the given arguments over all packages and shows what a person
# wants to know: a line for each package, everything about a failure, and what
# was skipped and why.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT

"${GO:-go}" test -v "$@" ./... 2>&1 | tee "$log" | grep --line-buffered -E '^(ok|FAIL|\?) '
code=${PIPESTATUS[0]}

if [ "$code" -ne 0 ]; then
	printf '\n== what failed\n'
	grep -vE '^(=== (RUN|PAUSE|CONT|NAME)|[[:space:]]*--- (PASS|SKIP)|PASS$|(ok|\?)[[:space:]])' "$log"
fi
printf '\n== skipped, with the reason\n'
# With -v the reason stands in the line before.
awk '/^[[:space:]]+[A-Za-z0-9_]+\.go:[0-9]+: / { reason = $0; next } /--- SKIP/ { print; print reason; reason = "" } /--- (PASS|FAIL)/ { reason = "" }' "$log"
# The packages once more, so that the last lines tell the outcome.
printf '\n'
grep -E '^(ok|FAIL)[[:space:]]' "$log"
exit "$code"
