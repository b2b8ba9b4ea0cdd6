#!/bin/sh
# Usage: install-onnxruntime.sh [FOLDER]
# Installs the ONNX Runtime library that the tests of the embedding helper load,
# from the npm package onnxruntime-node, and prints its path. FOLDER is
# STRANDLINE_CACHE or .cache in the repository; nothing outside it changes. An
# installed library is kept. If STRANDLINE_ONNXRUNTIME is set, its value is printed.
set -eu
version=1.30.0
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-${STRANDLINE_CACHE:-$root/.cache}}
target=$folder/onnxruntime-$version

say() { echo "install-onnxruntime: $*" >&2; }

if [ -n "${STRANDLINE_ONNXRUNTIME:-}" ]; then
	echo "$STRANDLINE_ONNXRUNTIME"
	exit 0
fi
case "$(uname -sm)" in
	"Linux x86_64") place=linux/x64 library=libonnxruntime.so.1 ;;
	"Linux aarch64") place=linux/arm64 library=libonnxruntime.so.1 ;;
	*) say "no library is chosen for $(uname -sm)"; exit 1 ;;
esac
if [ -f "$target/$library" ]; then
	echo "$target/$library"
	exit 0
fi
command -v npm >/dev/null || { say "npm is needed to install the library"; exit 1; }

mkdir -p "$folder"
work=$(mktemp -d "$folder/onnxruntime.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
say "fetching onnxruntime-node@$version (110 MB) for its library"
# The package is downloaded and not installed: only the library is needed.
(cd "$work" && npm pack --silent "onnxruntime-node@$version" >/dev/null)
mkdir "$work/out"
tar -xzf "$work"/*.tgz -C "$work" "package/bin/napi-v6/$place/$library"
mv "$work/package/bin/napi-v6/$place/$library" "$work/out/$library"
# Of two concurrent installations the first one wins.
mv "$work/out" "$target" 2>/dev/null || [ -f "$target/$library" ]
echo "$target/$library"
