#!/bin/sh
# Usage: fuzz.sh TIME
# Runs every fuzz target of the module for TIME (as go test -fuzztime takes it).
set -eu
time=${1:-10s}
go list -f '{{.Dir}}' ./... | while read -r dir; do
	grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "== $target (${dir#"$PWD"/})"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir"
	done
done
