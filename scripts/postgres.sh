#!/usr/bin/env bash
# A real PostgreSQL with pgvector for the tests of internal/index/postgres.
#
#   scripts/postgres.sh install        installs one from Debian's packages
#   scripts/postgres.sh run COMMAND…   starts one, runs the command with
#                                      STRANDLINE_TEST_POSTGRES set, stops it
#
# An installed PostgreSQL that has pgvector is used as it is. Otherwise a Debian
# system with one is made in STRANDLINE_CACHE or .cache, which needs root and mmdebstrap.
# The server listens only on a socket in a temporary folder; its data are removed
# when the command ends. Exit code 77: none is installed and none can be.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."

root=${STRANDLINE_CACHE:-$PWD/.cache}/postgres-17
missing() { echo "no PostgreSQL with pgvector: $*" >&2; exit 77; }

# native prints the folder of programs of an installed PostgreSQL with pgvector.
native() {
	local bin share
	for bin in "$(pg_config --bindir 2>/dev/null || true)" /usr/lib/postgresql/*/bin; do
		[ -x "$bin/initdb" ] || continue
		share=$("$bin/pg_config" --sharedir 2>/dev/null) || share=/usr/share/postgresql/$(basename "$(dirname "$bin")")
		[ -f "$share/extension/vector.control" ] && { echo "$bin"; return; }
	done
	return 1
}

install_root() {
	[ "$(id -u)" = 0 ] || missing "making one needs root"
	if ! command -v mmdebstrap >/dev/null; then
		command -v apt-get >/dev/null || missing "mmdebstrap is not there, nor apt-get to install it"
		apt-get install -y -q --no-install-recommends mmdebstrap >/dev/null 2>&1 ||
			{ apt-get update -q >/dev/null 2>&1 && apt-get install -y -q --no-install-recommends mmdebstrap >/dev/null 2>&1; } ||
			missing "mmdebstrap could not be installed"
	fi
	mkdir -p "$(dirname "$root")"
	rm -rf "$root.new"
	mmdebstrap --quiet --variant=apt --include=postgresql-17,postgresql-17-pgvector trixie "$root.new" >&2 || missing "mmdebstrap failed"
	rm -rf "$root"
	mv "$root.new" "$root"
}

# inside runs a program of the server as the owner of the data, within the Debian
# system if one was made.
inside() {
	if [ -n "$bin" ]; then
		if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/$1" "${@:2}"; else "$bin/$1" "${@:2}"; fi
	else
		chroot --userspec=postgres:postgres "$root" "/usr/lib/postgresql/17/bin/$1" "${@:2}"
	fi
}

run() {
	bin=$(native || true)
	[ -n "$bin" ] || [ -x "$root/usr/lib/postgresql/17/bin/postgres" ] || missing "run scripts/postgres.sh install"
	short=$(mktemp -d /tmp/spg.XXXXXX) # a socket's path may have 107 bytes
	chmod 711 "$short"
	if [ -n "$bin" ]; then
		dir=$short/d seen=$dir
		mkdir "$dir"
		[ "$(id -u)" != 0 ] || chown postgres "$dir"
	else
		# The client sees the same folder by a short name.
		dir=$(mktemp -d "$root/tmp/spg.XXXXXX")
		seen=/tmp/$(basename "$dir")
		chroot "$root" chown postgres "$seen"
		ln -s "$dir" "$short/d"
	fi
	trap 'inside pg_ctl -D "$seen/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$dir" "$short"' EXIT
	inside initdb -D "$seen/data" -U strandline -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
	cat >>"$dir/data/postgresql.conf" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$seen'
		dynamic_shared_memory_type = mmap
		fsync = ${STRANDLINE_TEST_POSTGRES_FSYNC:-off}
		max_connections = 300
		shared_buffers = 128MB
	CONF
	inside pg_ctl -D "$seen/data" -w -t 60 -l "$seen/log" start >/dev/null || { cat "$dir/log" >&2; missing "it does not start"; }
	chmod 755 "$dir"
	cd "$here"
	STRANDLINE_TEST_POSTGRES="host=$short/d user=strandline dbname=postgres sslmode=disable" "$@"
}

case "${1:-}" in
install) native >/dev/null || [ -x "$root/usr/lib/postgresql/17/bin/postgres" ] || install_root ;;
run) shift; run "$@" ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
