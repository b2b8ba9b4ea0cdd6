package redact_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"strandline/internal/redact"
)

// pick returns n characters of an alphabet.
func pick(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// The labelled texts of this repository: W is a password that looks like a word, P
// a strong one, T a token, H a hexadecimal key. All are drawn when the test runs.
func secretTexts() []string {
	return strings.Split(strings.Trim(`
[mail]\nuser = app\npassword = W
db.password=W
password: 'P'
  password: W
spring.datasource.password: P
{"db": {"Password": "P"}}
{\"password\":\"P\"}
db_password = "P"
variable "db_password" { default = "P" }
<password>W</password>
<add name="x" connectionString="Server=h;User Id=a;Pwd=W;" />
export DB_PASSWORD=W
export DB_PASSWORD='P'
$env:DB_PASSWORD = "W"
setx DB_PASSWORD W
set -gx API_TOKEN T
environment:\n  - MYSQL_ROOT_PASSWORD=W
docker run -e API_KEY=T image
tool --password W run
tool --password=P run
tool --api-key T run
psql "host=h user=a password=W dbname=d"
postgres://app:W@h:5432/d
https://bob:P@example.org/x
https://example.org/x?access_token=T&b=c
https://example.org/x?api_key=H
Authorization: Bearer T
X-Api-Key: T
X-Auth-Token: H
machine h login a password W
h:5433:d:a:W
//registry.example.org/:_authToken=T
[pypi]\nusername = __token__\npassword = T
- DB_PASSWORD=W
+ DB_PASSWORD=W
     3→password = "P"
 12: API_TOKEN=T
apiVersion: v1\nkind: Secret\ndata:\n  password: cGFz0123c3dvcmQ=
os.getenv("API_TOKEN", "T")
config.set("password", "P")
define('DB_PASSWORD', 'P');
process.env.TOKEN || "T"
requirepass W
net user bob W /add
curl -u bob:W https://example.org
curl -u 'bob:P' https://example.org
mysql -u root -pW d
echo W | docker login -u a --password-stdin
echo 'bob:W' | chpasswd
the password is W
The password for the NAS is W.
set the password to W and restart
use W as the password
**Password**: W
password → W
the passphrase is "velvet lantern meadow copper"
das Passwort lautet W
le mot de passe est W
la contraseña es W
a senha é W
la password è W
пароль: W
пароль для базы это W
密码是W
パスワードはWです
log in as admin:W
password%3DW
passZWSPword: W
password: ESC[1mWESC[0m
TOTP seed is JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
acme_live_T
set imap_pass="W"
bindpw W
<Password><Value>W</Value></Password>
const char password[] = "P";
ENV["DB_PASSWORD"] ||= "P"
Password:\nW
| Password | W |
mnemonic: velvet lantern meadow copper harbor falcon orchid about then river stone cloud
https://example.org/?key=T
the password is G for the server
password: G
DB_PASSWORD=G
PRIVATE-TOKEN: T
{User:bob Password:G Port:22}
define('AUTH_SALT', 'T');
ROOT_PASSWORD: ${ROOT_PASSWORD:-G}
DEPLOY_TOKEN ?= T
ds.setPassword("G");
var secret = @"T";
password = "velvet-lantern-meadow-copper"
name,login,password,site\nbob,bob1,G,example.test
| host | user | password |\n|---|---|---|\n| db1 | app | G |
Title\tUser\tPassword\nmail\tbob\tG
app:P@tcp(10.0.0.3:3306)/shop
https://H@git.example.test/a
https://H:x-oauth-basic@git.example.test/a
userPassword:: T
bob:$apr1$T
enable secret 0 W
snmp-server community W RO
openssl enc -aes-256-cbc -K H
aws ssm put-parameter --type SecureString --value G
mount -t cifs //h/s /mnt -o user=bob,pass=G
gpg --passphrase 'velvet-lantern-meadow' -d a
mysetup --dbpass=G
USER bob\r\nPASS G\r\n
AUTH PLAIN T
expect "assword:"\nsend "W\\r"
credentials for the demo: admin / G
pwd for the zip = G
the secret is G
der Zugangsschlüssel ist G
la clé secrète « G »
sunucunun şifresi G
كلمة المرور هي G
पासवर्ड है G
A temporary password is generated for root@localhost: G
use the following password to proceed:\n\nH
your verification code is 482913
acmecloud_T
acmecloud-T
the creds are bob:G
password (temporary): G
pass: G
Password changed from hunter2 to G
$pass = "G";
new NetworkCredential("bob", "G")
{password, "G"}
<tr><th>Password</th><td>G</td></tr>
etcdctl --user root:G get x
API anahtarı: T
psexec \\h -u bob -p W cmd
Pwd=W;
`, "\n"), "\n")
}

// plainTexts must stay as they are.
func plainTexts() []string {
	return strings.Split(strings.Trim(`
password = getPassword()
token: string
password := cfg.Password2
the password is required
the password is stored in the vault
the token is expired since 2026-01-02
password must have 12 characters
postgres://user:password@localhost/d
amqp://guest:guest@localhost
password: ${DB_PASSWORD}
API_KEY=your-api-key-here
TOKEN=xxxxxxxxxxxx
commit 0123456789abcdef0123456789abcdef01234567
"integrity": "sha512-0123456789abcdef0123456789ABCDEF+/w=="
cache_key=0123456789abcdef0123456789abcdef
idempotency_key: 7f3a12cd-1b2c-4d3e-8f90-a1b2c3d4e5f6
--- PASS: TestPassword12 (0.00s)
password policy: 12 characters, see docs/password-reset.md
passwd: files systemd
token bucket of 200000 tokens per minute
secretName: db-credentials
key: value2026
s.ReadUint16LengthPrefixed(&extensions)
PublicKeyToken=31bf3856ad364e35
"password", "username2"
password hash: $2b$12$abcdefghijklmnopqrstuv
bundle config path vendor/bundle2
password: !Ref DBPassword
the password has to have 8 characters and 1 digit
login failed 3 times
a * b2 * c
git log -p a1b2c3d4
psql -p 5433
cus_NffrFeUfNV2Hib price_1MoBy5LkdIwHu7ixZhnattbh
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
op://vault/item/password
{{ .Values.auth.password | b64enc }}
curl -u user:pass https://example.com
AKIAIOSFODNN7EXAMPLE
(?:password|token)\s*[:=]\s*[A-Za-z0-9]{8,}
token.Parse("sha256")
GetUserByToken("prod2")
| option | password | default |\n|---|---|---|\n| --x | string | required |
name,password,changed\nbob,yes,2026-01-02
basic functionality
the exit code is 1
status code: 404
the secret is that it works
password = strings.TrimSpace(line2)
cus_NffrFeUfNV2Hib
the password hash is 5f4dcc3b5aa765d61d8327deb882cf99
GET ../passwd HTTP/1.1
`, "\n"), "\n")
}

// TestLabelledTexts holds recall and the share of unchanged texts over many draws.
func TestLabelledTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	redactor := redact.New([]byte("test"))
	const letters, alnum = "abcdefghkmnpqrstuvwxyz", "abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789"
	words := strings.Fields("Harbor Velvet Copper Meadow Falcon Orchid Monkeypass Topsecret Keystone Tokenring")
	missed, all := 0, 0
	for _, form := range secretTexts() {
		for range 20 {
			secrets := map[string]string{
				"W": words[r.IntN(len(words))] + pick(r, "23456789", 3), "P": "x" + pick(r, alnum, 5) + "!" + pick(r, "23456789", 2) + pick(r, "^#@%", 1) + pick(r, alnum, 5),
				"T": "a7" + pick(r, alnum, 14) + "B3" + pick(r, alnum, 14) + "9k", "H": pick(r, "0123456789abcdef", 30) + "a7",
				"G": "q" + pick(r, "23456789", 1) + pick(r, "ABCDEFGHK", 2) + pick(r, ".-_", 1) + pick(r, alnum, 4) + pick(r, "!%+.", 1) + pick(r, "23456789", 1) + "xK",
			}
			text, secret := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", "ESC", "\x1b", "ZWSP", "\u200b").Replace(form), ""
			for letter, value := range secrets {
				if i := placeOf(text, letter); i >= 0 {
					text, secret = text[:i]+value+text[i+1:], value
					break
				}
			}
			all++
			if got := redactor.String(text); got == text || secret != "" && strings.Contains(got, secret) {
				missed++
				t.Logf("missed %q in %q", secret, text)
			}
		}
	}
	if missed*50 > all {
		t.Errorf("%d of %d secrets missed, at most 2 %% expected", missed, all)
	}
	same(t, plainTexts())
}

// TestEncodedTokens finds tokens and settings in each encoding.
func TestEncodedTokens(t *testing.T) {
	r, redactor := rand.New(rand.NewPCG(3, 4)), redact.New([]byte("test"))
	const alnum = "abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789"
	each := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for i := range len(s) {
				fmt.Fprintf(&b, format, s[i])
			}
			return b.String()
		}
	}
	base := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	wide := func(s string) string { return base(each("%c\x00")(s)) }
	for name, encode := range map[string]func(string) string{
		"percent": each("%%%02x"), "x": each(`\x%02x`), "u": each(`\u%04x`), "hex": each("%02x"), "base64": base,
		"base64 twice": func(s string) string { return base(base(s)) }, "UTF-16": wide,
	} {
		for range 20 {
			secrets := []string{fake("gh", "p_") + pick(r, alnum, 36), fake("glp", "at-") + pick(r, alnum, 20), "password=" + pick(r, alnum, 9) + "7x"}
			for i, s := range secrets {
				if e := encode(s); (name != "UTF-16" || i == 2) && strings.Contains(redactor.String("v = '"+e+"'"), e[len(e)/2:]) {
					t.Errorf("%s of %q stays", name, s)
				}
			}
		}
	}
}

// placeOf returns the offset of a capital that stands for a secret.
func placeOf(text, letter string) int {
	for i := range len(text) {
		if text[i:i+1] == letter && (i == 0 || !isLetter(text[i-1]) || strings.HasSuffix(text[:i], "-p") || strings.HasSuffix(text[:i], "[1m") || strings.HasSuffix(text[:i], "%3D") || strings.HasSuffix(text[:i], "cloud_")) && (i+1 == len(text) || !isLetter(text[i+1])) {
			return i
		}
	}
	return -1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// No part of a text makes a matcher read beyond its end.
func TestCutTexts(t *testing.T) {
	texts := append(append(secretTexts(), plainTexts()...), hostile()...)
	for _, l := range optionalSet() {
		texts = append(texts, l.text)
	}
	for _, s := range texts {
		s = s[:min(len(s), 400)]
		for i := range len(s) {
			redact.Find(s[:i])
			redact.Find(s[i:])
		}
	}
}
