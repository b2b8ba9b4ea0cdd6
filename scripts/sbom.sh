#!/bin/sh
# Usage: sbom.sh VERSION
# Prints a software bill of materials in CycloneDX format: the modules that are linked into
# the program on any released system, with their checksums of go.sum, and the Go version.
# The same commit gives the same bytes.
set -eu
go=${GO:-go}
for os in linux darwin windows; do
	GOOS=$os CGO_ENABLED=0 "$go" list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' ./cmd/strandline
done | sort -u | awk -v program="$1" -v go="$("$go" env GOVERSION | sed 's/^go//')" '
	function component(name, version, sum) {
		printf "%s\n    {\"type\": \"library\", \"name\": \"%s\", \"version\": \"%s\", \"purl\": \"pkg:golang/%s@%s\"", \
			separator, name, version, tolower(name), version
		if (sum != "")
			printf ", \"properties\": [{\"name\": \"go.sum\", \"value\": \"%s\"}]", sum
		printf "}"
		separator = ","
	}
	BEGIN {
		while ((getline line < "go.sum") > 0) {
			split(line, field, " ")
			sums[field[1] " " field[2]] = field[3]
		}
		printf "{\n  \"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.5\", \"version\": 1,\n"
		printf "  \"metadata\": {\"component\": {\"type\": \"application\", \"name\": \"strandline\", \"version\": \"%s\"}},\n", program
		printf "  \"components\": ["
		component("std", go, "")
	}
	NF == 2 { component($1, $2, sums[$0]) }
	END { printf "\n  ]\n}\n" }'
