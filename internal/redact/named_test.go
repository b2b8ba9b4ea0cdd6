package redact_test

import (
	"strings"
	"testing"
)

func TestNamedValues(t *testing.T) {
	word, drawn := fake("hunter", "2"), fake("q8Zr4", "Lw9Xk2p")
	table(t, []example{
		// Environment and shell: any word can be the value.
		{"DB_PASSWORD=" + word, "DB_PASSWORD=<password>"},
		{"POSTGRES_PASSWORD=postgres", "POSTGRES_PASSWORD=<password>"},
		{"export API_TOKEN=\"" + drawn + "\"", "export API_TOKEN=\"<token>\""},
		{"JWT_SECRET=supersecretvalue\nPORT=80", "JWT_SECRET=<secret>\nPORT=80"},
		{"SECRET_KEY_BASE=" + mixed, "SECRET_KEY_BASE=<secret>"},
		{"OPENAI_API_KEY='" + drawn + "'", "OPENAI_API_KEY='<api-key>'"},
		{"STRIPE_KEY_2=" + drawn, "STRIPE_KEY_2=<api-key>"},
		{`PASSWORD="correct horse battery staple"`, `PASSWORD="<password>"`},
		{"PASSWORD=p&ss,w0rd;x rest", "PASSWORD=<password> rest"},
		{`A=1\nTOKEN=` + drawn + `\nB=2`, `A=1\nTOKEN=<token>\nB=2`},
		// JSON, also inside a JSON string, and YAML, TOML, INI.
		{`{"password": "` + word + `"}`, `{"password": "<password>"}`},
		{`{\"client_secret\": \"` + drawn + `\", \"a\": 1}`, `{\"client_secret\": \"<secret>\", \"a\": 1}`},
		{`"password": "swordfish"`, `"password": "<password>"`},
		{`"pwd": 12345678,`, `"pwd": <password>,`},
		{"password: " + word + "\nuser: me", "password: <password>\nuser: me"},
		{"api-key: " + drawn + " # prod", "api-key: <api-key> # prod"},
		{"access_token = '" + drawn + "'", "access_token = '<token>'"},
		{"aws_secret_access_key = " + mixed, "aws_secret_access_key = <secret>"},
		{"//registry.example.org/:_authToken=" + drawn, "//registry.example.org/:_authToken=<token>"},
		// Code.
		{`password := "` + word + `"`, `password := "<password>"`},
		{`const apiKey = "` + drawn + `";`, `const apiKey = "<api-key>";`},
		{`token: str = "` + drawn + `"`, `token: str = "<token>"`},
		{`var dbPassword string = "` + word + `"`, `var dbPassword string = "<password>"`},
		{`os.environ["API_KEY"] = "` + drawn + `"`, `os.environ["API_KEY"] = "<api-key>"`},
		{`'privateKey' => '` + drawn + `'`, `'privateKey' => '<api-key>'`},
		// Connection strings, queries, flags, headers.
		{"Server=x;Password=letmein;Database=y", "Server=x;Password=<password>;Database=y"},
		{"https://x/y?access_token=" + drawn + "&z=1", "https://x/y?access_token=<token>&z=1"},
		{"mysql --password " + word + " -h db", "mysql --password <password> -h db"},
		{"cli --api-key=" + drawn, "cli --api-key=<api-key>"},
		{"X-Api-Key: " + drawn, "X-Api-Key: <api-key>"},
		// Long values match completely.
		{"GCP_SECRET=" + strings.Repeat(mixed, 200) + " x", "GCP_SECRET=<secret> x"},
		{`"secret": "` + strings.Repeat(mixed, 200) + `", 1`, `"secret": "<secret>", 1`},
		{"api_key: " + strings.Repeat(mixed, 200) + "\nx", "api_key: <api-key>\nx"},
		// The closing quote is missing.
		{`"token": "` + drawn, `"token": "<token>`},
	})
}

func TestNamedValuesOtherThanSecrets(t *testing.T) {
	same(t, []string{
		// Variables, calls, expressions.
		`PASSWORD=$DB_PASS`, `PASSWORD="${DB_PASS}"`, `password = os.Getenv("DB_PASSWORD")`, `token: process.env.GITHUB_TOKEN,`,
		`API_KEY=$(cat key.txt)`, `apiKey = config.apiKey2`, `token = generateToken2()`, `password = req.body.password1`,
		`secret = "{{ vault.secret1 }}"`, `token: ${{ secrets.TOKEN_1 }}`, `key = settings["api_key_1"]`,
		`if password == "hunter22" {`, `token != "abc12345"`, `PrivateKey: testRSA2048PrivateKey,`,
		`cmd.Env = append(cmd.Env, "PWD="+cmd.Dir2)`, `PWD=/root/work1`, `OLDPWD=/root/work1`,
		// Types and declarations.
		`token: string`, `password: str`, `secret: Vec<u8>`, `token: int64`, `password?: string;`, `Token Token1`,
		`func login(password string, token string) error`, `type Token struct {`,
		// Placeholders of documentation.
		`API_KEY=<your-api-key>`, `API_KEY=your_api_key_1`, `TOKEN=xxxxxxxxxxxx`, `password: "********"`, `SECRET=changeme`,
		`token: "..."`, `API_KEY=replace-this-1`, `password="[redacted:password:0a1b2c]"`, `TOKEN=`, `token: ""`, `token: null`,
		`PASSWORD=%s`, `"password": "%v"`, `SECRET=placeholder`, `token = "token"`,
		// Labels, prose, names of objects.
		`"password": "Enter your password"`, `Password: the one from last week, 2024`, `password: required`, `"token": "invalid-token"`,
		`const ErrToken = "invalid_token_1"`, `// username:password:uid1:gid1`, `secret: k8s-secret-name`, `token=access_token`,
		`the token: 7 of them`, `input_type="password"`, `kubectl create secret generic name1`, `the --password option is`,
		// Similar names.
		`token_count: 12345678ab`, `"tokens": "abc12345"`, `password_file=/run/secrets/pw1`, `TOKEN_PATH=abc12345`, `passport: ab123456`,
		`public_key = "` + mixed + `"`, `key = "` + mixed + `"`, `keyboard: "qwerty123456"`, `secretName: "db-creds-12345678"`,
		`primary_key: "a1b2c3d4e5"`, `SECRET_FILE=./abc12345`, `password = 0x80550009`, `token = "https://example.com/a1b2c3d4"`,
	})
}

func TestCredentialsInURLs(t *testing.T) {
	table(t, []example{
		{"postgres://user:p4ss@host:5432/db", "postgres://user:<url-password>@host:5432/db"},
		{"https://me:p@ss:word@host/", "https://me:<url-password>@host/"},
		{"redis://:" + fake("s3", "cret") + "@localhost", "redis://:<url-password>@localhost"},
		{"https://x-access-token:" + fake("gh", "s_", mixed[:36]) + "@github.com/a/b", "https://x-access-token:<github-token>@github.com/a/b"},
		{"https://" + hex32 + "@sentry.io/1", "https://<url-password>@sentry.io/1"},
		{`"url":"amqp://a:b1c2@h"`, `"url":"amqp://a:<url-password>@h"`},
	})
	same(t, []string{
		"http://user:${PASS}@host", "http://<user>:<pass>@host", "http://user:***@host", "http://user:@host", "http://user@host",
		"http://host:8080/path@2x.png", "http://a:b and c@d.e", "http://{user}:{password}@host", "://x:y@z", "http://host:80?q=a@b",
		"http://user:[redacted:url-password:0a1b2c]@host",
	})
}

func TestHeaders(t *testing.T) {
	basic := fake("YWxhZGRpbj", "pvcGVuc2VzYW1l")
	table(t, []example{
		{"Authorization: Bearer " + mixed, "Authorization: Bearer <bearer-token>"},
		{`-H "authorization: bearer ` + mixed + `"`, `-H "authorization: bearer <bearer-token>"`},
		{"Authorization: Basic " + basic, "Authorization: Basic <basic-auth>"},
		{`"Authorization": "Basic ` + basic + `"`, `"Authorization": "Basic <basic-auth>"`},
		{`\"Authorization\": \"Token ` + mixed + `\"`, `\"Authorization\": \"Token <token>\"`},
		{"Authorization: " + mixed, "Authorization: <token>"},
		{"Bearer " + fake("sk", "-ant-", mixed), "Bearer <anthropic-key>"},
	})
	same(t, []string{
		"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "Authorization: Bearer ${token1234567890}",
		"Bearer authentication is used", "Bearer token", "Basic authentication", "Authorization: Basic auth", "authorization: required",
		"Authorization header2 is missing", "the bearer of this letter", "Authorization: Bearer YOUR_ACCESS_TOKEN_1",
		"Authorization: Bearer getAccessToken12(", "Authorization: Bearer [redacted:bearer-token:0a1b2c]",
	})
}
