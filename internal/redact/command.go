package redact

import (
	"slices"
	"strings"
	"sync"

	"strandline/internal/text"
)

// maxCommand is the longest distance, in bytes, between a program and its flag.
const maxCommand = 240

// flag describes how programs take a secret on the command line.
type flag struct {
	programs string // separated by blanks
	// with must appear between the program and the flag: docker uses -p for ports,
	// except in docker login.
	with  string
	flags string // separated by blanks
	// user separates a user name from the password, as in curl -u user:pass.
	user byte
	// joined reports that the value follows without a blank: mysql -psecret.
	joined bool
	// single reports that a long flag has one dash: plink -pw secret.
	single bool
	// cookies reports that the value is a list of cookies.
	cookies bool
}

func flags() []flag {
	return []flag{
		{programs: "curl", flags: "-u -user -U -proxy-user", user: ':'},
		{programs: "etcdctl", flags: "-user", user: ':'},
		{programs: "curl", flags: "-b", cookies: true},
		{programs: "http https xh xhs ab", flags: "-a", user: ':'},
		{programs: "http https xh xhs", flags: "-auth", user: ':'},
		{programs: "lftp", flags: "-u", user: ','},
		{programs: "ab", flags: "-A", user: ':'},
		{programs: "smbclient rpcclient smbmap net", flags: "-U", user: '%'},
		{programs: "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlcheck mariadb mariadb-dump mariadb-admin", flags: "-p", joined: true},
		{programs: "sshpass", flags: "-p"},
		{programs: "7z 7za 7zz 7zr rar unrar", flags: "-p", joined: true},
		{programs: "zip unzip ipmitool ssh-keygen mosquitto_pub mosquitto_sub", flags: "-P"}, //nolint:misspell // names of programs
		{programs: "ssh-keygen", flags: "-N"},
		{programs: "gh", with: " secret set ", flags: "-b -body"},
		{programs: "mqtt", flags: "-pw", single: true},
		{programs: "influx cypher-shell choco nuget dotnet activemq rabbitmqadmin ldifde", flags: "-password", single: true},
		{programs: "podman skopeo buildah oras crane", flags: "-creds -src-creds -dest-creds", user: ':'},
		{programs: "mount.cifs net psexec psexec64 rdesktop xtightvncviewer neo4j-admin gitlab-runner imapsync smbget ncftpget", flags: "-p"},
		{programs: "useradd usermod openconnect vpnc", flags: "-p"},
		{programs: "security", with: "-keychain ", flags: "-p"},
		{programs: "cf az", with: " -u ", flags: "-p"},
		{programs: "xcrun altool notarytool", flags: "-p"},
		{programs: "netlify surge vercel doctl flyctl fly railway", flags: "-t"},
		{programs: "msmtp swaks", flags: "-ap", single: true},
		{programs: "xfreerdp wfreerdp mstsc cmdkey", flags: "/p: /pass: /password:", joined: true, single: true},
		{programs: "schtasks", flags: "/rp", single: true},
		{programs: "signtool", flags: "/p"},
		{programs: "dotnet nuget", with: " push ", flags: "-k"},
		{programs: "snowsql", flags: "-p"},
		{programs: "nmap hydra medusa", flags: "-p", with: " -l "},
		{programs: "plink pscp psftp putty kitty", flags: "-pw", single: true},
		{programs: "keytool jarsigner", flags: "-storepass -keypass", single: true},
		{programs: "keytool", flags: "-srcstorepass -deststorepass", single: true},
		{programs: "twine smbmap crackmapexec netexec nxc evil-winrm ncftp ncftpput beeline", flags: "-p"},
		{programs: "openssl", with: " enc ", flags: "-k -K"},
		{programs: "openssl", flags: "-macopt", user: ':'},
		{programs: "aws", with: "SecureString", flags: "-value"},
		{programs: "gpg gpg2 steghide restic borg cryptsetup", flags: "-passphrase"},
		{programs: "security", with: " add-", flags: "-w"},
		{programs: "snmpwalk snmpget snmpset snmpbulkwalk snmptrap", flags: "-A -X"},
		{programs: "mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh influx arangosh", flags: "-p"},
		{programs: "docker podman nerdctl buildah skopeo helm oc crane oras cosign", with: " login ", flags: "-p"},
		{programs: "sqlcmd bcp isql tsql", flags: "-P"},
		{programs: "redis-cli valkey-cli keydb-cli", flags: "-a"},
		{programs: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", flags: "-w"},
	}
}

// passwordPrograms returns the programs for which any word after --password is a
// secret.
var passwordPrograms = sync.OnceValue(func() map[string]flag {
	of := map[string]flag{}
	for p := range strings.FieldsSeq("gpg gpg2 psql wget svn lftp ftp snowsql clickhouse-client rabbitmqadmin vault npm") {
		of[p] = flag{}
	}
	for _, f := range flags() {
		for p := range strings.FieldsSeq(f.programs) {
			of[p] = f
		}
	}
	return of
})

// flagTriggers returns one trigger for each flag name, so that a text is scanned
// once for each.
func flagTriggers() []trigger {
	by := map[string]map[string]flag{}
	for _, f := range flags() {
		for name := range strings.FieldsSeq(f.flags) {
			if by[name] == nil {
				by[name] = map[string]flag{}
			}
			for p := range strings.FieldsSeq(f.programs) {
				by[name][p] = f
			}
		}
	}
	var list []trigger
	for lit, of := range by {
		list = append(list, trigger{lit: lit, match: func(s string, at int) (finding, bool) { return flagged(s, at, len(lit), of) }})
	}
	return list
}

// curlCluster matches the password of curl -su user:secret, where -u ends a group
// of flags.
func curlCluster(s string, at int) (finding, bool) {
	i := at + len("curl ")
	stop := min(len(s), i+maxCommand)
	for i < stop && !isBreak(s[i]) && s[i] != '|' && s[i] != ';' {
		n := run(s[i:stop], func(c byte) bool { return c > ' ' })
		word := s[i : i+n]
		if n > 2 && word[0] == '-' && (word[n-1] == 'u' || word[n-1] == 'U') && run(word[1:], func(c byte) bool { return text.IsLetter(c) || c == '#' }) == n-1 {
			return flag{user: ':'}.value(s, i+n, false)
		}
		i += max(n, 1)
	}
	return finding{}, false
}

// piped matches echo secret | docker login --password-stdin.
func piped(s string, at int) (finding, bool) {
	line := s[max(0, at-maxCommand):at]
	line = line[strings.LastIndexAny(line, "\r\n;&")+1:]
	pipe, echo, length := strings.LastIndexByte(line, '|'), strings.LastIndex(line, "echo "), len("echo ")
	if echo < 0 {
		echo, length = strings.LastIndex(line, "printf "), len("printf ")
	}
	if echo < 0 || pipe < echo {
		return finding{}, false
	}
	i := at - len(line) + echo + length
	for strings.HasPrefix(s[i:], "-n ") || strings.HasPrefix(s[i:], "-e ") {
		i += len("-n ")
	}
	i += blanks(s[i:])
	if open := i + openQuote(s[i:]); open < len(s) && s[open] == '$' { // a variable, or $$ in a compose file
		return finding{}, false
	}
	return chosenArgument(s, i)
}

// positional describes a program that takes a secret as a plain argument.
type positional struct {
	lit  string
	skip int // arguments before the secret; options do not count
}

func positionals() []positional {
	return []positional{
		{"htpasswd -", 2}, {"net user ", 1}, {"net use ", 2}, {"openssl passwd ", 0}, {"mkpasswd ", 0}, {"wpa_passphrase ", 1}, {"cargo login ", 0},
		{"vault login ", 0}, {"vault unseal ", 0}, {"operator unseal ", 0}, {"rclone obscure ", 0}, {"alias set ", 3}, {"config host add ", 3},
		{"rabbitmqctl add_user ", 1}, {"rabbitmqctl change_password ", 1}, {"requirepass ", 0}, {"masterauth ", 0}, {"> AUTH ", 0}, {"rootpw --plaintext ", 0},
		{"snap login ", 1}, {"wifi connect ", 2}, {"add-generic-password ", 9}, {"auth login --token ", 0}, {"auth:token ", 0}, {"ConvertTo-SecureString ", 0},
		{"isql -v ", 2}, {"bundle config set --global ", 1}, {"bundle config set ", 1}, {"bundle config ", 1}, {"passwd root ", 0}, {"set-password ", 1}, {"rootpw ", 0}, {"keyctl padd user ", 1},
		{"importprivkey ", 0}, {"snmp-server community ", 0}, {"secret 0 ", 0}, {"secret 5 ", 0}, {"password 0 ", 0}, {"password 7 ", 0}, {"enable secret ", 0}, {"AUTH PLAIN ", 0},
	}
}

// match matches the secret after the literal at offset at.
func (p positional) match(s string, at int) (finding, bool) {
	i := at + len(p.lit)
	if strings.HasSuffix(p.lit, "-") { // the options of htpasswd
		n := run(s[i:min(len(s), i+maxName)], text.IsLetter)
		if strings.IndexByte(s[i:i+n], 'b') < 0 {
			return finding{}, false
		}
		i += n
	}
	if !borderBefore(s, at) && p.lit[0] != '>' {
		return finding{}, false
	}
	for skip := p.skip; ; {
		i += blanks(s[min(i, len(s)):])
		if i >= len(s) || isBreak(s[i]) || strings.IndexByte("|;&<>#", s[i]) >= 0 {
			return finding{}, false
		}
		quote := s[i : i+openQuote(s[i:])]
		n := len(quote) + argument(s[i+len(quote):], quote)
		option := s[i] == '-' || s[i] == '/' && n < 8
		if !option && skip == 0 {
			f, ok := chosenArgument(s, i)
			v := s[f.start:f.end]
			if strings.HasPrefix(p.lit, "bundle ") && strings.IndexByte(v, ':') < 0 && !(len(v) >= 20 && isMixedKey(v)) { // a path, a number
				return finding{}, false
			}
			return f, ok && v != "" && (p.skip > 0 || mixOf(v).digit > 0 || len(quote) > 0) && run(v, isConstant) < len(v)
		}
		if !option {
			skip--
		}
		i += max(n+len(quote), 1)
	}
}

// account matches echo 'user:secret' | chpasswd.
func account(s string, at int) (finding, bool) {
	f, ok := piped(s, at)
	if !ok {
		return f, false
	}
	if i := strings.IndexByte(s[f.start:f.end], ':'); i > 0 {
		f.start += i + 1
	}
	return f, f.end-f.start >= minPassword
}

// poetry matches the value that poetry config takes after pypi-token.NAME, or
// after http-basic.NAME and a user.
func poetry(s string, at int) (finding, bool) {
	word := func(i int) int { return i + run(s[i:min(len(s), i+maxName)], func(c byte) bool { return c > ' ' }) }
	if !strings.Contains(command(s[:at]), "config") {
		return finding{}, false
	}
	i := word(at)
	if s[at] == 'h' { // http-basic.NAME
		i += blanks(s[i:])
		i = word(i)
	}
	gap := blanks(s[i:])
	f, ok := chosenArgument(s, i+gap)
	return f, ok && gap > 0
}

// flagged matches the secret after a flag if one of the given programs precedes it
// on the same command line.
func flagged(s string, at, length int, of map[string]flag) (finding, bool) {
	end := at + length
	double := length > len("-u") && at > 0 && s[at-1] == '-' // --user
	if double {
		at--
	}
	listed := at > 0 && (s[at-1] == '"' || s[at-1] == '\'')
	if at == 0 || end >= len(s) || !listed && !isSpace(s[at-1]) {
		return finding{}, false
	}
	f, rest, ok := findProgram(command(s[:at]), of)
	if !ok || !strings.Contains(rest, f.with) && (!text.HasAnyPrefix(f.with, "Secure") || !strings.Contains(s[end:min(len(s), end+maxCommand)], f.with)) || length > len("-u") && double == f.single {
		return finding{}, false
	}
	return f.value(s, end, listed)
}

// value matches the value at or after offset i. listed reports that the flag is a
// quoted element of an argument list.
func (f flag) value(s string, i int, listed bool) (finding, bool) {
	if listed && !f.joined {
		i += openQuote(s[i:])
	}
	gap := run(s[i:min(len(s), i+maxGap)], func(c byte) bool { return isSpace(c) || c == '=' || c == ',' && listed })
	if f.joined && gap > 0 {
		return finding{}, false
	}
	i += gap
	quote := s[i : i+openQuote(s[i:])]
	i += len(quote)
	end := i + argument(s[i:], quote)
	start := i
	if f.cookies {
		return cookieValues(s, start, end)
	}
	if f.user != 0 {
		n := strings.IndexByte(s[start:end], f.user)
		if n < 0 {
			return finding{}, false
		}
		if defaultLogin(s[start:start+n], s[start+n+1:end]) {
			return finding{}, false
		}
		start += n + 1
		if q := openQuote(s[min(start, len(s)):]); quote == "" && q > 0 { // user:'secret'
			return chosenArgument(s, start)
		}
	}
	return chosen(s, start, end)
}

// argument returns the length of a command line argument.
func argument(s, quote string) int {
	stop := " \t\r\n\"'`;|&<>)"
	for i := range min(len(s), maxBare) {
		switch {
		case quote != "" && (s[i] == quote[0] && strings.HasPrefix(s[i:], quote) || isBreak(s[i])):
			return i
		case quote == "" && (strings.IndexByte(stop, s[i]) >= 0 && !(s[i] == '&' && i+1 < len(s) && text.IsAlnum(s[i+1])) || escapedSpace(s[i:]) > 0 || openQuote(s[i:]) > 0):
			return i
		}
	}
	return min(len(s), maxBare)
}

// chosenArgument is chosen for the argument at offset i, quoted or not.
func chosenArgument(s string, i int) (finding, bool) {
	quote := s[i : i+openQuote(s[i:])]
	i += len(quote)
	return chosen(s, i, i+argument(s[i:], quote))
}

// chosen matches s[start:end] as a password if the syntax allows nothing else,
// unless the text is a placeholder or an option.
func chosen(s string, start, end int) (finding, bool) {
	v := s[start:end]
	name := run(v, isConstant) == len(v) && !hasDigit(v) && secretWord(v) // such as MY_TOKEN in manuals
	return finding{kindPassword, start, end}, len(v) >= 3 && v[0] != '-' && !masked(v) && !template(v) && !dummy(v) &&
		!strings.Contains(v, opening) && placeholderEnd(s, start) <= 0 && !name
}

// command returns the command that s ends with: its last line, including lines
// continued with a backslash, after the last pipe or semicolon.
func command(s string) string {
	s = s[max(0, len(s)-maxCommand):]
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '|' || s[i] == ';' || isBreak(s[i]) && !strings.HasSuffix(strings.TrimRight(s[:i], "\r"), `\`) {
			return s[i+1:]
		}
	}
	return s
}

// findProgram returns the last of the programs in a command line, and the text
// after it.
func findProgram(line string, of map[string]flag) (flag, string, bool) {
	for end := len(line); end > 0; end-- {
		start := end - runBefore(line[:end], isProgram)
		word := line[start:end]
		if start < end && !sameName(line, start+1) { // the n of an escaped newline
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

// opensslPass matches openssl -passin pass:secret.
func opensslPass(s string, at int) (finding, bool) {
	before := s[max(0, at-12):at]
	option := strings.TrimRight(before, " \t\"',=")
	isOption := slices.ContainsFunc([]string{"-pass", "-passin", "-passout"}, func(o string) bool { return strings.HasSuffix(option, o) })
	from := at + len("pass:")
	f, ok := chosen(s, from, from+argument(s[from:], ""))
	return f, ok && isOption && len(option) < len(before)
}
