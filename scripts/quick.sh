#!/bin/sh
# Usage: quick.sh [BASE]
# Tests the packages with Go files that differ from the last commit (or from
# BASE), without the slow tests.
set -eu
go=${GO:-go}
changed=$({ git diff --name-only "${1:-HEAD}" -- '*.go'; git ls-files -o --exclude-standard -- '*.go'; } | xargs -r -n1 dirname | sort -u | sed 's#^#./#')
if [ -z "$changed" ]; then
	echo "quick: no Go file differs from ${1:-the last commit}; testing the base packages"
	exec "$go" test ./internal/text ./internal/archive ./internal/transcript/... ./internal/hook
fi
dirs=
for dir in $changed; do
	[ -d "$dir" ] && dirs="$dirs $dir"
done
# shellcheck disable=SC2086 # a list of folders
exec "$go" test -short $dirs
