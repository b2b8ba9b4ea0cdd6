#!/bin/sh
# Prints the licence text of every module that is linked into strandline, on any
# released system, for the archives that are handed on. NOTICE names them.
set -eu
modules() {
	for os in linux darwin windows; do
		CGO_ENABLED=0 GOOS=$os go list -deps \
			-f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/strandline
	done | sort -u
}
modules | while read -r path version dir; do
	printf '%s %s\n' "$path" "$version" | sed 'h;s/./=/g;x;G'
	found=no
	for file in "$dir"/LICENSE* "$dir"/LICENCE* "$dir"/COPYING* "$dir"/NOTICE*; do
		[ -f "$file" ] || continue
		found=yes
		printf '\n--- %s\n\n' "${file##*/}"
		cat "$file"
	done
	if [ "$found" = no ]; then
		echo "no licence file in $path $version" >&2
		exit 1
	fi
	printf '\n\n'
done
