#!/bin/sh
# Usage: install-npm-client.sh NAME
# Installs a client other than Claude Code for the end-to-end tests with npm, into
# NAME-VERSION below STRANDLINE_CACHE or .cache in the repository, and prints that
# folder. An installed client is kept.
set -eu
node=
case "${1:-}" in
codex) package=@openai/codex version=0.169.0 ;;
copilot) package=@github/copilot version=1.0.102 ;;
pi) package=@earendil-works/pi-coding-agent version=1.5.2 node=22.23.3 ;;
opencode) package=opencode-ai version=1.18.33 ;;
gemini) package=@google/gemini-cli version=0.61.0 ;;
qwen) package=@qwen-code/qwen-code version=0.24.4 ;;
*) echo "usage: install-npm-client.sh codex|copilot|gemini|opencode|pi|qwen" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${STRANDLINE_CACHE:-$root/.cache}
target=$folder/$1-$version

if [ -d "$target/node_modules" ]; then
	echo "$target"
	exit 0
fi
command -v npm >/dev/null || { echo "install-npm-client: npm is needed to install $package" >&2; exit 1; }
mkdir -p "$folder"
work=$(mktemp -d "$folder/client.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
echo "install-npm-client: installing $package@$version into $target" >&2
# npm verifies the packages; their install scripts do not run.
install() {
	npm install --prefix "$work/$1" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$2" >&2
}
case $1 in
pi) # its package is one bundle, which needs one of the dependencies: the loader of extensions
	install . jiti@2.7.0
	(cd "$work" && npm pack --silent "$package@$version" >/dev/null && tar xzf ./*.tgz && rm ./*.tgz)
	mkdir -p "$work/node_modules/$package"
	mv "$work"/package/* "$work/node_modules/$package"
	;;
*) install . "$package@$version" ;;
esac
# A client that needs a newer Node than the installed one gets its own.
if [ -n "$node" ] && ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)'; then
	install node "node-$(node -p 'process.platform + "-" + process.arch')@$node"
	mv "$work"/node/node_modules/node-*/bin/node "$work/node_modules/node"
fi
if [ "$1" = copilot ]; then # it unpacks itself at its first use, into a folder that tests share
	HOME=$work/node XDG_CACHE_HOME=$work/unpacked COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9 COPILOT_MODEL=none \
		"$work"/node_modules/@github/copilot-*/copilot mcp list >&2 </dev/null
fi
rm -rf "$work"/node "$work"/package "$work"/node_modules/@openai/codex-*/vendor/*/codex-resources/voice
# OpenCode comes once for processors with AVX2 and once for others, with 170 MB each.
if ! grep -q avx2 /proc/cpuinfo 2>/dev/null && ls -d "$work"/node_modules/opencode-*-baseline >/dev/null 2>&1; then
	find "$work/node_modules" -maxdepth 1 -name 'opencode-*' ! -name '*-baseline' ! -name opencode-ai -exec rm -rf {} +
else
	rm -rf "$work"/node_modules/opencode-*-baseline
fi
# Of two concurrent installations the first one wins.
mv "$work" "$target" 2>/dev/null || [ -d "$target/node_modules" ]
echo "$target"
