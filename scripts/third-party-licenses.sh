#!/bin/sh
# Prints the licence text of every module linked into strandline, on any released
# system, or into its embedding helper, and of the page's libraries. Release archives contain it; NOTICE lists the modules.
set -eu
format='{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}'
modules() {
	{
		for os in linux darwin windows; do
			CGO_ENABLED=0 GOOS=$os go list -deps -f "$format" ./cmd/strandline
		done
		go list -tags onnx -deps -f "$format" ./cmd/strandline-onnx
	} | sort -u
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
cat internal/httpapi/static/vendor/LICENSES.txt
