#!/bin/sh
# Usage: depguard-proof.sh GOLANGCI_LINT
# Shows that the linter fails when a floor is broken: copies the tree, adds one
# forbidden import at a time and expects depguard to name the broken rule.
set -eu
lint=${1:?path of golangci-lint}
case "$lint" in */*) lint=$(cd "$(dirname "$lint")" && pwd)/${lint##*/} ;; esac
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT INT TERM
git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] || continue
	mkdir -p "$tree/$(dirname "$file")"
	cp "$file" "$tree/$file"
done
cd "$tree"

exists() { ls "$1"/*.go >/dev/null 2>&1; }

# Our packages are imported through a leaf that imports nothing itself, so that
# the compiler's own rule against cycles does not speak first.
leaf() { # import path
	mkdir -p "${1#strandline/}"
	echo 'package leaf' >"${1#strandline/}/leaf.go"
}

broken=0
tried=0
try() { # folder, import, rule
	exists "$1" || { echo "skip  $1 does not exist"; return; }
	case "$2" in strandline/*) leaf "$2/leaf"; set -- "$1" "$2/leaf" "$3" ;; esac
	name=$(go list -f '{{.Name}}' "./$1")
	printf 'package %s\n\nimport _ "%s"\n' "$name" "$2" >"$1/zz_broken.go"
	out=$("$lint" run --enable-only depguard "./$1/..." 2>&1 || true)
	rm "$1/zz_broken.go"
	case "$2" in strandline/*) rm -r "${2#strandline/}" ;; esac
	tried=$((tried + 1))
	# The rule is named in the message of a strict list; a denied package is
	# named with the rule's own words.
	if printf '%s' "$out" | grep -q "zz_broken.go.*$2.*$3"; then
		printf 'fails as it should  %-24s importing %s\n' "$1" "$2"
	else
		printf 'NOT CAUGHT          %-24s importing %s\n%s\n' "$1" "$2" "$out"
		broken=$((broken + 1))
	fi
}

try internal/archive strandline/internal/terms ground-imports-the-standard-library-only
try internal/archive os "no input or output"
try internal/terms strandline/internal/recall tools-import
try internal/transcript strandline/internal/store/sqlite "chooses a store"
try internal/brief text/template "start-up"
try internal/sessionlog net/http "start-up"
try internal/capture strandline/internal/store/sqlite "chooses a store"
try internal/capture database/sql "speaks SQL"
try internal/compact strandline/internal/cli work-imports
try internal/compact strandline/internal/gitstat work-imports
try internal/recall modernc.org/sqlite "knows a driver"
try internal/capture strandline/internal/synth "tests and measurements"
try internal/hook github.com/spf13/cobra hook-face
try internal/hook strandline/internal/cli hook-face
try internal/cli strandline/internal/store/sqlite "hands the store in"
try internal/store/sqlite strandline/internal/capture stores-import

echo "$tried broken floors tried, $broken not caught"
[ "$broken" -eq 0 ] && [ "$tried" -gt 0 ]
