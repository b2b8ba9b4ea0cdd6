#!/usr/bin/env bash
# Writes cmd/strandline/default.pgo: where the Go benchmarks of the work that
# hooks, compactions and searches do spend their time. The compiler inlines and
# lays out code by it; a profile that is some months old still serves.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# profile PACKAGE BENCHMARKS TIME: each adds samples in the measure of its time.
profile() {
	echo "profiling internal/$1" >&2
	go test -trimpath -pgo=off -run '^$' -bench "$2" -benchtime "$3" -o "$dir/test" \
		-cpuprofile "$dir/${1//\//_}.pprof" "./internal/$1" >&2
}
profile store/sqlite '^Benchmark(Apply|HookCycle)$|^BenchmarkSearch$/^(rare|common|commonest|question.*|must)$' 3s
profile compact '^BenchmarkReplace$' 5s
profile sessionlog '^Benchmark(HookAppend|ReadPosition|ReadAll)$' 1s
profile redact '^Benchmark(NothingFound|TenFound)' 1s
profile terms '^BenchmarkAppendTo$' 1s
profile brief '^BenchmarkAssemble$' 1s

go tool pprof -proto "$dir"/*.pprof >cmd/strandline/default.pgo 2>/dev/null
ls -l cmd/strandline/default.pgo
