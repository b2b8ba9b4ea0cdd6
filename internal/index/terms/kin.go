package terms

// groups holds, one group a line, words that developers use for the same thing.
// A word stands in one group only, and words that mean something else as often
// ("close", "run") stand in none. All are as Index gives them; their other forms
// are found through Forms.
const groups = `
login signin logon
authentication auth authenticate
authorization authorize permission
credential password secret passphrase
error failure exception fault
crash panic segfault
delete remove erase
config configuration setting preference
directory folder
repository repo
database db
documentation doc readme
function func method
parameter argument arg param
variable var
environment env
dependency package library
deprecated obsolete
fix repair bugfix
bug defect
slow sluggish latency
fast quick speed
performance throughput
timeout deadline
retry reattempt
lock mutex semaphore
deadlock hang freeze
concurrent parallel
thread goroutine
race racy
queue backlog
cache memoize
memory ram heap
leak leakage
picture image
icon favicon
button btn
popup modal dialog
colour color
grey gray
layout stylesheet
sidebar drawer
navigation navbar
encrypt encryption cipher
decrypt decryption
hash checksum digest
certificate cert
compress compression gzip
serialize marshal encode
deserialize unmarshal decode
parse parser parsing
regex regexp
string str
integer int
boolean bool
array slice
dictionary dict hashmap
null nil undefined
random rand
sort ordering
duplicate dedupe
merge rebase
branch fork
commit changeset
rollback revert undo
release publish
deploy deployment rollout
upgrade bump
install setup
uninstall deinstall
container docker
kubernete k8s
pipeline workflow
schedule cron
daemon background
process subprocess
terminal console shell
command cmd
stdout output
log logging logger
metric telemetry
monitor watch
notification alert
email mail
message msg
request req
response reply
endpoint route
url link uri
webhook callback
websocket socket
proxy gateway
server backend
client frontend
user account
admin administrator
payment billing charge
invoice receipt
price cost
refund reimbursement
translate translation i18n
localization l10n
accessibility a11y
typescript ts
javascript js
python py
golang go
rust cargo
postgre postgresql
sqlite sqlite3
migration migrate
schema ddl
table relation
column field
query sql
transaction tx
backup snapshot
restore recover
import ingest
export dump
upload attach
download fetch
validate verify check
sanitize escape
test spec
mock stub fake
flaky intermittent
benchmark bench
coverage covered
lint linter
format formatter
refactor restructure
rename renaming
cleanup tidy
temporary temp tmp
example sample
version ver
number num
maximum max
minimum min
average avg
length len
previous prev
address addr
allocate alloc
asynchronous async
synchronous sync
attribute attr
calculate compute
character char
initialize init
information info
reference ref
source src
destination dest
statistic stat
utility util
object obj
pointer ptr
buffer buf
context ctx
`

// maxKin bounds the related words of a word: each costs a search two looks into
// the index.
const maxKin = 4

// Kin returns other words for what a word as Index gives it means among
// developers: "login" gives "signin". Most words have none.
func Kin(word string) []string {
	kin := companions(groups, word)
	return kin[:min(len(kin), maxKin)]
}
