package redact_test

import (
	"strings"
	"testing"
)

// A letter before or after a key: joined text, a variable name, a wrapped line.
func TestKeysNextToLetters(t *testing.T) {
	id := fake("AK", "IA", "IOSFODNN7QXCMPLQ")
	head, payload := fake("ey", "JhbGciOiJIUzI1NiJ9"), fake("ey", "JzdWIiOiIxMjM0NTY3ODkwIn0")
	secret := fake("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzzDUMMYKEY")
	table(t, []example{
		{"x" + id, "x<aws-access-key>"},
		{"X" + id + " rest", "X<aws-access-key> rest"},
		{"key" + id + "and", "key<aws-access-key>and"},
		{"aws_" + id + "_old", "aws_<aws-access-key>_old"},
		{"x" + id + ":" + secret, "x<aws-access-key>:<aws-secret-key>"},
		{"token" + head + "." + payload + "." + mixed, "token<jwt>"},
		{"key" + fake("S", "G.", mixed[:22], ".", mixed, "abc"), "key<sendgrid-key>"},
		{"key" + fake("AI", "za", mixed[:35]), "key<google-api-key>"},
	})
	base64 := strings.Repeat(mixed, 3)
	same(t, []string{
		base64 + fake("AK", "IA") + base64,           // in the middle of base64
		base64 + fake("AI", "za") + base64,           //
		"x" + fake("S", "G.", mixed[:22], ".sha256"), // a file's name
		"KUAAAAAAAAAnRgA" + fake("AB", "IAAQAAWUEAAAAAAA7B") + "\n",
		fake("npm", "_my_http_handler_and_its_many_more_words2"),
		fake("tas", "k-5055e5808598abcdef0123456789"), fake("TAS", "K", hex32),
	})
}

func TestElements(t *testing.T) {
	word, drawn := fake("hunter", "2"), fake("q8Zr4", "Lw9Xk2p")
	table(t, []example{
		{"<password>" + word + "</password>", "<password><password></password>"},
		{"<password>swordfish</password>", "<password><password></password>"},
		{"<apiKey>" + drawn + "</apiKey>", "<apiKey><api-key></apiKey>"},
		{"<ns:clientSecret>" + drawn + "</ns:clientSecret>", "<ns:clientSecret><secret></ns:clientSecret>"},
		{`<password type="plain">` + word + "</password>", `<password type="plain"><password></password>`},
		{"<dbPassword><![CDATA[" + word + "]]></dbPassword>", "<dbPassword><![CDATA[<password>]]></dbPassword>"},
		{"&lt;password&gt;" + word + "&lt;/password&gt;", "&lt;password&gt;<password>&lt;/password&gt;"},
		{"<server><username>me</username><password>p@ss;w0rd</password></server>",
			"<server><username>me</username><password><password></password></server>"},
		{`<wsse:Password Type="x#PasswordText">` + word + `</wsse:Password>`, `<wsse:Password Type="x#PasswordText"><password></wsse:Password>`},
	})
	same(t, []string{
		"<password></password>", "<password>${db.password}</password>", "<password>{encrypted}</password>", "<token>string</token>",
		"<Password>Your password</Password>", "<password>****</password>", "<label>Password</label>", "<token>1</token>",
		"Map<String, Token> a1b2c3d4e5", "List<Token>a1b2c3d4e5 = x", "<Token>a1b2c3d4e5 of a generic call", "<Password/>" + word + "</x>",
		"<password>\n  <ref id=\"a1b2c3d4\"/>\n</password>", "use <token> or </token>", "<passwordFile>/run/secrets/pw1</passwordFile>",
	})
}

// A name can be the value of an attribute next to the secret.
func TestAttributes(t *testing.T) {
	word, drawn := fake("hunter", "2"), fake("q8Zr4", "Lw9Xk2p")
	table(t, []example{
		{`{"name": "DB_PASSWORD", "value": "` + word + `"}`, `{"name": "DB_PASSWORD", "value": "<password>"}`},
		{`{\"name\":\"API_TOKEN\",\"value\":\"` + drawn + `\"}`, `{\"name\":\"API_TOKEN\",\"value\":\"<token>\"}`},
		{"- name: DB_PASSWORD\n  value: " + word + "\n", "- name: DB_PASSWORD\n  value: <password>\n"},
		{`- name: DB_PASSWORD\n  value: ` + word + `\n`, `- name: DB_PASSWORD\n  value: <password>\n`},
		{`<add key="ApiKey" value="` + drawn + `" />`, `<add key="ApiKey" value="<api-key>" />`},
		{`<property name="password" value="` + word + `"/>`, `<property name="password" value="<password>"/>`},
		{`{"Key": "JWT_SECRET", "Value": "` + drawn + `"}`, `{"Key": "JWT_SECRET", "Value": "<secret>"}`},
	})
	same(t, []string{
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: a1b2c3d4e5", `{"name": "password", "type": "string", "value": ""}`,
		`{"name": "token", "value": "${TOKEN}"}`, `{"label": "password", "value": "swordfish"}`, `{"name": "token_count", "value": "a1b2c3d4"}`,
		`name: token, values: a1b2c3d4e5`, `{"name":"password"}`, `{"name":"password","value`,
	})
}

func TestCommandLines(t *testing.T) {
	word := fake("hunter", "2")
	table(t, []example{
		{"curl -u me:" + word + " https://x", "curl -u me:<password> https://x"},
		{"curl -sS -u 'me:" + word + "' https://x", "curl -sS -u 'me:<password>' https://x"},
		{"curl https://x/?a=1 \\\n  --user \"me:swordfish\"", "curl https://x/?a=1 \\\n  --user \"me:<password>\""},
		{"curl --proxy-user=me:" + word + " x", "curl --proxy-user=me:<password> x"},
		{`["curl", "-u", "me:` + word + `", "x"]`, `["curl", "-u", "me:<password>", "x"]`},
		{`{"command":"cd x\ncurl -ume:` + word + `"}`, `{"command":"cd x\ncurl -ume:<password>"}`},
		{"/usr/bin/curl.exe -u me:" + word, "/usr/bin/curl.exe -u me:<password>"},
		{"mysql -u root -p" + word + " db", "mysql -u root -p<password> db"},
		{"mysqldump -uroot -p'sword fish' db > x", "mysqldump -uroot -p'<password>' db > x"},
		{`["mysql", "-p` + word + `"]`, `["mysql", "-p<password>"]`},
		{"mysql --password=letmein db", "mysql --password=<password> db"},
		{"psql --password letmein db", "psql --password <password> db"},
		{"sshpass -p " + word + " ssh me@host", "sshpass -p <password> ssh me@host"},
		{"mongosh --host h -u me -p letmein", "mongosh --host h -u me -p <password>"},
		{"docker login -u me -p " + word + " ghcr.io", "docker login -u me -p <password> ghcr.io"},
		{"redis-cli -h h -a letmein ping", "redis-cli -h h -a <password> ping"},
		{"ldapsearch -x -D cn=a -w letmein -b dc=b", "ldapsearch -x -D cn=a -w <password> -b dc=b"},
		{"smbclient //h/s -U me%" + word, "smbclient //h/s -U me%<password>"},
		{"sqlcmd -S h -U sa -P 'P@ssw0rd!' -Q x", "sqlcmd -S h -U sa -P '<password>' -Q x"},
		{"openssl rsa -in k -passin pass:letmein -out o", "openssl rsa -in k -passin pass:<password> -out o"},
		{"wget --http-user=a --http-password=letmein u", "wget --http-user=a --http-password=<password> u"},
	})
	same(t, []string{
		"curl -u $USER:$PASS x", "curl -u \"${U}:${P}\" x", "curl -u user:password x", "curl -u <user>:<pass> x", "curl -u user x", "curl -u :",
		"docker run -u 1000:1000 -p 8080:80 x", "git push -u origin main:other", "mkdir -p letmein/and", "mysql -p mydb", "mysql -u root -p",
		"claude -p 'say hello2'", "ssh -p 2222 host", "mysql -h h -P 3306", "curl x | python -u a:b2c3d4", "curl x; sort -u a:b2c3d4",
		"a libcurl -u a:b2c3d4", "curl-config -u a:b2c3d4", "the --password option is", "ls -a letmein", "curl x\nchown -u a:b2c3d4",
		"redis-cli -a \"$REDIS_PASSWORD\"", "sshpass -p PASSWORD ssh", "mysql -p[redacted:password:0a1b2c] x", "-passing pass:letmein1", "docker ps -p hunter22",
		"--password=required", "cli --password=PASSWORD", "curl -", "curl -u",
	})
}

func TestAuthorization(t *testing.T) {
	basic := fake("YWxhZGRpbj", "pvcGVuc2VzYW1l")
	table(t, []example{
		{"Proxy-Authorization: Basic " + basic, "Proxy-Authorization: Basic <basic-auth>"},
		{"authorization=Basic " + basic, "authorization=Basic <basic-auth>"},
		{"Authorization:Basic " + basic, "Authorization:Basic <basic-auth>"},
		{`curl -H Authorization:\ Basic\ ` + basic, `curl -H Authorization:\ Basic\ <basic-auth>`},
		{`req.Header.Set("Authorization", "Basic ` + basic + `")`, `req.Header.Set("Authorization", "Basic <basic-auth>")`},
		{`setRequestHeader('Authorization', 'Token ` + mixed + `')`, `setRequestHeader('Authorization', 'Token <token>')`},
		{"Authorization: ApiKey me:" + mixed, "Authorization: ApiKey me:<token>"},
		{"Authorization: SharedKey account:" + mixed + "=", "Authorization: SharedKey account:<token>"},
		{"Authorization: SSWS 00" + mixed, "Authorization: SSWS <token>"},
		{"Authorization: Custom-Scheme " + mixed, "Authorization: Custom-Scheme <token>"},
		{"Authorization: NTLM " + basic + "1", "Authorization: NTLM <token>"},
		{`Authorization: Digest username="me", nonce="a", uri="/", response="` + hex32 + `"`,
			`Authorization: Digest username="me", nonce="a", uri="/", response="<signature>"`},
		{"Authorization: AWS4-HMAC-SHA256 Credential=" + fake("AK", "IA", "IOSFODNN7QXCMPLQ") + "/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=" + hex32 + hex32,
			"Authorization: AWS4-HMAC-SHA256 Credential=<aws-access-key>/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=<signature>"},
		{`{"auths":{"ghcr.io":{"auth":"` + fake("bWU6aHVu", "dGVyMg==") + `"}}}`, `{"auths":{"ghcr.io":{"auth":"<basic-auth>"}}}`},
		{`{\"auth\":\"` + fake("bWU6aHVu", "dGVyMg==") + `\"}`, `{\"auth\":\"<basic-auth>\"}`},
		{"//r/:_auth=" + fake("bWU6aHVu", "dGVyMg=="), "//r/:_auth=<basic-auth>"},
	})
	same(t, []string{
		"Authorization: Basic <credentials>", "authorization, which a1b2c3d4e5f6a7b8c9d0e1", "Authorization: Digest realm=\"x\"", "authorization header a1b2c3d4e5f6a7b8c9d0e1f2a3b4",
		`w.Header().Get("Authorization")`, `"auth": "dGVzdA=="`, `"auth": "required"`, `"oauth": "bWU6aHVudGVyMg=="`, "Authorization:", "authorization: AWS4-HMAC-SHA256 x",
	})
}

func TestConnectionStringsAndFiles(t *testing.T) {
	word := fake("hunter", "2")
	table(t, []example{
		{"jdbc:postgresql://h/db?user=me&password=letmein", "jdbc:postgresql://h/db?user=me&password=<password>"},
		{`"Server=x;Uid=me;Pwd=letmein"`, `"Server=x;Uid=me;Pwd=<password>"`},
		{"host=db user=me password=letmein dbname=x", "host=db user=me password=<password> dbname=x"},
		{"Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=" + mixed + "=", "Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=<azure-key>"},
		{"https://a.blob.core.windows.net/c?sv=1&sig=" + mixed + "%3D", "https://a.blob.core.windows.net/c?sv=1&sig=<signature>"},
		{"https://s3/x?X-Amz-Signature=" + hex32 + hex32 + "&a=b", "https://s3/x?X-Amz-Signature=<signature>&a=b"},
		{"machine github.com login me password letmein", "machine github.com login me password <password>"},
		{"machine h\n  login me\n  password " + word, "machine h\n  login me\n  password <password>"},
		{"default login me password letmein\n", "default login me password <password>\n"},
		{`machine h\nlogin me\npassword letmein\n`, `machine h\nlogin me\npassword <password>\n`},
		{"db.host:5432:*:me:letmein\n", "db.host:5432:*:me:<password>\n"},
		{"SMTP_PASS=letmein", "SMTP_PASS=<password>"},
		{`auth: { user: "me", pass: "` + word + `x!" }`, `auth: { user: "me", pass: "<password>" }`},
		{`{"user":"me","pass":"q8Zr4Lw9-Xk"}`, `{"user":"me","pass":"<password>"}`},
	})
	same(t, []string{
		"the machine's login page and password reset", "login me password letmein", "connect(host=h, user=u, password=letmein)",
		"127.0.0.1:5432:5432", "host:5432:db", "--- PASS: TestLogin2 (0.00s)", "TESTS_PASS=1234567", "PASS=12 FAIL=3", `"pass": "a1b2"`, `{"pass": "all-tests2"}`,
		"X-Amz-Signature=...", "a&sig=1", "https://x/?user=me&password=", "password = letmein", "DB_PASS=$PW", `bypass: "a1b2c3d4e5!"`,
	})
}
