package redact

import (
	"strings"
	"sync"
)

// maxCommand is how far before a flag its command is looked for.
const maxCommand = 240

// flag is how a program takes a secret on its command line.
type flag struct {
	programs []string
	// with must stand between the program and the flag: docker takes -p for a
	// port, except at its login.
	with string
	flag string
	// user is what separates a user's name from the password: curl -u user:pass.
	user byte
	// joined says that the value has no blank before it: mysql -psecret.
	joined bool
	// single says that a name of several letters has one dash: plink -pw secret.
	single bool
	// cookies says that the value is a list of cookies.
	cookies bool
}

func flags() []flag {
	mongo := []string{"mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "cqlsh", "influx", "arangosh"}
	ldap := []string{"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"}
	login := []string{"docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "az", "oc", "crane", "oras"}
	mysql := []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mysqlcheck", "mariadb", "mariadb-dump", "mariadb-admin"}
	return []flag{
		{programs: []string{"curl"}, flag: "-u", user: ':'},
		{programs: []string{"curl"}, flag: "-user", user: ':'},
		{programs: []string{"curl"}, flag: "-U", user: ':'},
		{programs: []string{"curl"}, flag: "-proxy-user", user: ':'},
		{programs: []string{"curl"}, flag: "-b", cookies: true},
		{programs: []string{"http", "https", "xh", "xhs", "ab"}, flag: "-a", user: ':'},
		{programs: []string{"http", "https", "xh", "xhs"}, flag: "-auth", user: ':'},
		{programs: []string{"lftp"}, flag: "-u", user: ','},
		{programs: []string{"ab"}, flag: "-A", user: ':'},
		{programs: []string{"smbclient", "rpcclient", "smbmap"}, flag: "-U", user: '%'},
		{programs: mysql, flag: "-p", joined: true},
		{programs: []string{"sshpass"}, flag: "-p"},
		{programs: []string{"7z", "7za", "7zz", "7zr", "rar", "unrar"}, flag: "-p", joined: true},
		{programs: []string{"zip", "unzip", "ipmitool"}, flag: "-P"},
		{programs: []string{"plink", "pscp", "psftp", "putty", "kitty"}, flag: "-pw", single: true},
		{programs: []string{"keytool", "jarsigner"}, flag: "-storepass", single: true},
		{programs: []string{"keytool", "jarsigner"}, flag: "-keypass", single: true},
		{programs: []string{"keytool"}, flag: "-srcstorepass", single: true},
		{programs: []string{"keytool"}, flag: "-deststorepass", single: true},
		{programs: []string{"twine", "smbmap", "crackmapexec", "netexec", "nxc", "evil-winrm", "ncftp", "ncftpput", "beeline"}, flag: "-p"},
		{programs: []string{"openssl"}, with: " enc ", flag: "-k"},
		{programs: []string{"security"}, with: " add-", flag: "-w"},
		{programs: []string{"snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptrap"}, flag: "-A"},
		{programs: []string{"snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptrap"}, flag: "-X"},
		{programs: mongo, flag: "-p"},
		{programs: login, with: " login ", flag: "-p"},
		{programs: []string{"sqlcmd", "bcp", "isql", "tsql"}, flag: "-P"},
		{programs: []string{"redis-cli", "valkey-cli", "keydb-cli"}, flag: "-a"},
		{programs: ldap, flag: "-w"},
	}
}

// clients are the programs whose --password VALUE may be any word.
var clients = sync.OnceValue(func() map[string]flag {
	of := map[string]flag{}
	for _, p := range []string{"psql", "wget", "svn", "lftp", "ftp", "snowsql", "clickhouse-client", "rabbitmqadmin", "vault", "npm"} {
		of[p] = flag{}
	}
	for _, f := range flags() {
		for _, p := range f.programs {
			of[p] = f
		}
	}
	return of
})

// flagTriggers has one trigger for each spelling of a flag, so that a text is
// looked at once for each.
func flagTriggers() []trigger {
	by := map[string]map[string]flag{}
	for _, f := range flags() {
		if by[f.flag] == nil {
			by[f.flag] = map[string]flag{}
		}
		for _, p := range f.programs {
			by[f.flag][p] = f
		}
	}
	var list []trigger
	for lit, of := range by {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (Finding, bool) { return flagged(s, at, len(lit), of) }})
	}
	return append(list,
		trigger{lit: "pass:", match: opensslPass},
		trigger{lit: "curl ", match: curlCluster},
		trigger{lit: "-password-stdin", match: piped},
		trigger{lit: "http-basic.", match: poetry},
		trigger{lit: "pypi-token.", match: poetry},
	)
}

// curlCluster matches the password of curl -su user:secret, where -u is the last of
// several flags in one word.
func curlCluster(s string, at int) (Finding, bool) {
	i := at + len("curl ")
	stop := min(len(s), i+maxCommand)
	for i < stop && !isBreak(s[i]) && s[i] != '|' && s[i] != ';' {
		n := run(s[i:stop], func(c byte) bool { return c > ' ' })
		word := s[i : i+n]
		if n > 2 && word[0] == '-' && (word[n-1] == 'u' || word[n-1] == 'U') && run(word[1:], func(c byte) bool { return isLetter(c) || c == '#' }) == n-1 {
			return flag{user: ':'}.value(s, i+n, false)
		}
		i += max(n, 1)
	}
	return Finding{}, false
}

// piped matches echo secret | docker login --password-stdin.
func piped(s string, at int) (Finding, bool) {
	line := s[max(0, at-maxCommand):at]
	line = line[strings.LastIndexAny(line, "\r\n;&")+1:]
	pipe, echo := strings.LastIndexByte(line, '|'), strings.LastIndex(line, "echo ")
	if echo < 0 || pipe < echo {
		return Finding{}, false
	}
	i := at - len(line) + echo + len("echo ")
	for strings.HasPrefix(s[i:], "-n ") || strings.HasPrefix(s[i:], "-e ") {
		i += len("-n ")
	}
	i += blanks(s[i:])
	quote := s[i : i+openers(s[i:])]
	i += len(quote)
	if i < len(s) && s[i] == '$' { // also $$ of compose files
		return Finding{}, false
	}
	return chosen(s, i, i+argument(s[i:], quote))
}

// poetry matches what poetry config takes behind pypi-token.NAME, and behind
// http-basic.NAME and a user.
func poetry(s string, at int) (Finding, bool) {
	word := func(i int) int { return i + run(s[i:min(len(s), i+maxName)], func(c byte) bool { return c > ' ' }) }
	if !strings.Contains(command(s[:at]), "config") {
		return Finding{}, false
	}
	i := word(at)
	if s[at] == 'h' { // http-basic
		i += blanks(s[i:])
		i = word(i)
	}
	gap := blanks(s[i:])
	if gap == 0 {
		return Finding{}, false
	}
	i += gap
	quote := s[i : i+openers(s[i:])]
	i += len(quote)
	return chosen(s, i, i+argument(s[i:], quote))
}

// flagged matches the secret behind a flag, where one of the programs that take
// it so stands before it on the same command line.
func flagged(s string, at, length int, of map[string]flag) (Finding, bool) {
	end := at + length
	double := length > len("-u") && at > 0 && s[at-1] == '-' // --user
	if double {
		at--
	}
	if at == 0 || end >= len(s) {
		return Finding{}, false
	}
	listed := s[at-1] == '"' || s[at-1] == '\''
	if !listed && !isSpace(s[at-1]) {
		return Finding{}, false
	}
	f, rest, ok := calls(command(s[:at]), of)
	if !ok || !strings.Contains(rest, f.with) || length > len("-u") && double == f.single {
		return Finding{}, false
	}
	return f.value(s, end, listed)
}

// value reads the flag's value, which begins at or behind offset i. A flag that
// is listed stands in quotes of its own, as one of several arguments.
func (f flag) value(s string, i int, listed bool) (Finding, bool) {
	if listed && !f.joined {
		i += openers(s[i:])
	}
	gap := run(s[i:min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || c == '=' || c == ',' && listed })
	if f.joined && gap > 0 {
		return Finding{}, false
	}
	i += gap
	quote := s[i : i+openers(s[i:])]
	i += len(quote)
	end := i + argument(s[i:], quote)
	start := i
	if f.cookies {
		return cookieValues(s, start, end)
	}
	if f.user != 0 {
		n := strings.IndexByte(s[start:end], f.user)
		if n < 1 {
			return Finding{}, false
		}
		start += n + 1
	}
	return chosen(s, start, end)
}

// argument returns the length of a word of a command line.
func argument(s, quote string) int {
	stop := " \t\r\n\"'`;|&<>)"
	for i := range min(len(s), maxBare) {
		switch {
		case quote != "" && (s[i] == quote[0] && strings.HasPrefix(s[i:], quote) || isBreak(s[i])):
			return i
		case quote == "" && (strings.IndexByte(stop, s[i]) >= 0 || escapedBlank(s[i:]) > 0 || openers(s[i:]) > 0):
			return i
		}
	}
	return min(len(s), maxBare)
}

// chosen takes s[start:end] for a password where the notation leaves no doubt
// that it is one, unless it says itself that it is none.
func chosen(s string, start, end int) (Finding, bool) {
	v := s[start:end]
	if len(v) < 3 || v[0] == '-' || blanked(v) || template(v) || standIn(v) || strings.Contains(v, opening) ||
		placeholderEnd(s, start) > 0 || isConstantName(v) {
		return Finding{}, false
	}
	return Finding{Kind: kindPassword, Start: start, End: end}, true
}

// isConstantName reports whether v is what a manual writes: PASSWORD, MY_TOKEN.
func isConstantName(v string) bool {
	return run(v, isConstant) == len(v) && mixOf(v).digit == 0 && secretWord(v)
}

// command returns the command line that s ends in: its last line, with those
// that a backslash continues, from the last pipe or semicolon on.
func command(s string) string {
	s = s[max(0, len(s)-maxCommand):]
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '|' || s[i] == ';':
			return s[i+1:]
		case isBreak(s[i]) && !strings.HasSuffix(strings.TrimRight(s[:i], "\r"), `\`):
			return s[i+1:]
		}
	}
	return s
}

// calls returns the last of the programs that stands in line as a word, and what
// follows it.
func calls(line string, of map[string]flag) (flag, string, bool) {
	for end := len(line); end > 0; end-- {
		start := end - runBefore(line[:end], isProgram)
		word := line[start:end]
		if start < end && !borderless(line, start+1) { // of an escaped line break
			word = word[1:]
		}
		if word != "" && word[0] != '-' && end < len(line) && line[end] != ':' {
			if f, ok := of[strings.TrimSuffix(word, ".exe")]; ok {
				return f, line[end:], true
			}
		}
		end = start
	}
	return flag{}, "", false
}

func isProgram(c byte) bool { return isURLSafe(c) || c == '.' }

// opensslPass matches openssl's -passin pass:secret.
func opensslPass(s string, at int) (Finding, bool) {
	before := s[max(0, at-12):at]
	option := strings.TrimRight(before, " \t\"',=")
	for _, f := range []string{"-pass", "-passin", "-passout"} {
		if strings.HasSuffix(option, f) && len(option) < len(before) {
			from := at + len("pass:")
			return chosen(s, from, from+argument(s[from:], ""))
		}
	}
	return Finding{}, false
}
