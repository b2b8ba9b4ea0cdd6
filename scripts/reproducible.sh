#!/bin/sh
# Usage: reproducible.sh
# Builds the last commit twice, in different folders and the second time without the
# build cache, and fails unless both builds have the same hashes.
set -eu
go=${GO:-go}
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
version=${VERSION:-$(git describe --tags --always)}

build() { # folder
	git clone -q --no-hardlinks . "$1"
	for tags in lean full; do
		(cd "$1" && CGO_ENABLED=0 "$go" build -trimpath -tags "$tags" -ldflags "-s -w -X main.version=$version" -o "strandline-$tags" ./cmd/strandline)
	done
	(cd "$1" && sha256sum strandline-lean strandline-full)
}

build "$dir/one" >"$dir/one.sums"
GOCACHE=$dir/cache build "$dir/another-folder" >"$dir/two.sums"
cat "$dir/one.sums"
if ! cmp -s "$dir/one.sums" "$dir/two.sums"; then
	echo "the second build differs:"
	cat "$dir/two.sums"
	exit 1
fi
echo "two builds of $version are equal"
