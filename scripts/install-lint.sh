#!/bin/sh
# Usage: install-lint.sh VERSION TARGET
# Installs golangci-lint VERSION as TARGET: a copy from PATH or GOPATH/bin of that
# version, otherwise a build from source. No binary is downloaded.
set -eu
version=$1
target=$2
case "$target" in /*) ;; *) target=$PWD/$target ;; esac

right() { [ -x "$1" ] && [ "v$("$1" version --short 2>/dev/null | sed 's/^v//')" = "$version" ]; }

if right "$target"; then
	touch "$target"
	exit 0
fi
mkdir -p "$(dirname "$target")"
for have in "$(command -v golangci-lint 2>/dev/null || true)" "$(go env GOPATH)/bin/golangci-lint"; do
	if [ -n "$have" ] && right "$have"; then
		echo "golangci-lint $version: using $have" >&2
		cp "$have" "$target"
		exit 0
	fi
done
echo "golangci-lint $version: building from source, this takes some minutes" >&2
GOBIN=$(dirname "$target") CGO_ENABLED=0 GOFLAGS= GOWORK=off \
	go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
