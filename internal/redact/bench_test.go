package redact_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"strandline/internal/redact"
)

// session returns 64 KB like a transcript: prose, code, output and JSON with words
// such as "token", but without a secret.
func session() string {
	const piece = `I'll check how the token is refreshed before the password prompt is shown.
func (s *Server) refreshToken(ctx context.Context, key string) (string, error) {
	token, err := s.store.Token(ctx, key)
	if err != nil || token == "" {
		return "", fmt.Errorf("read token of %s: %w", key, err)
	}
	return token, nil
}
--- FAIL: TestRefresh (0.00s)
    server_test.go:42: got "", want "token" at https://example.com/docs/auth?page=2
{"type":"assistant","uuid":"7f3a12cd-1b2c-4d3e-8f90-a1b2c3d4e5f6","usage":{"input_tokens":12,"output_tokens":345}}
commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b (HEAD -> main) Keep the key of a session
`
	return strings.Repeat(piece, 64<<10/len(piece)+1)[:64<<10]
}

func BenchmarkNothingFound64KB(b *testing.B) {
	s, r := session(), redact.New([]byte("bench"))
	if found := redact.Findings(s); found != nil {
		b.Fatalf("found %+v", found)
	}
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(s)
	}
}

func BenchmarkTenFound64KB(b *testing.B) {
	s := session()
	for i := range 10 {
		at := i * 6000
		s = s[:at] + "\nAPI_TOKEN=" + fake("gh", "p_", mixed[:36]) + "\n" + s[at:]
	}
	r := redact.New([]byte("bench"))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.String(s)
	}
}

// BenchmarkFirstUse64KB measures the first 64 KB of a new process, including the
// construction of the index, and reports it as first-µs.
func BenchmarkFirstUse64KB(b *testing.B) {
	if os.Getenv("STRANDLINE_FIRST_USE") != "" {
		s, r := session(), redact.New([]byte("bench"))
		start := time.Now()
		r.String(s)
		os.Stdout.WriteString("first use: " + time.Since(start).String() + "\n")
		os.Exit(0)
	}
	var sum time.Duration
	n := 0
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkFirstUse64KB$", "-test.benchtime=1x")
		cmd.Env = append(os.Environ(), "STRANDLINE_FIRST_USE=1")
		out, err := cmd.Output()
		_, after, found := strings.Cut(string(out), "first use: ")
		text, _, _ := strings.Cut(after, "\n")
		took, perr := time.ParseDuration(text)
		if err != nil || !found || perr != nil {
			b.Fatalf("%v, %v: %s", err, perr, out)
		}
		sum += took
		n++
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(n), "first-µs")
}

// hostile returns texts that make matchers read the same bytes repeatedly.
func hostile() []string {
	return []string{
		"TOKEN=", "token=", "password:", "-eyJ", "sk-", "-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----", "http://a:b@", fake("AK", "IA", "IOSFODNN7QXCMPLQ "),
		fake("AK", "IA"), "<password>", `"name":"password",`, "curl -u a:b ", "-p -p", "login me password ", ":5432:a:", `"auth":"YWJj`, "&sig=", "Authorization: Digest ",
		"authorization=", "_PASS=", "password is ", "c2VjcmV0", "data: kind: Secret\n", "\\", "a.b.c.", "x * y *\n", "cookie=", `"password","`, "echo a | passwd ", "%3D", "\x1b[1m", "key ", "_live_a1", "a_b", "-a1", "x,password\n", "| token |\n", "%61", `\x61`, "${TOKEN:-", "token(\"", " code is ", "Z2hwX", "p\x00",
	}
}

// BenchmarkHostile measures 10 KB and 1 MB of each text. The cost per byte must be
// about the same: "ratio" is at most 2.
func BenchmarkHostile(b *testing.B) {
	r := redact.New([]byte("bench"))
	cost := func(s string) float64 {
		best := time.Duration(1 << 62)
		for range 3 {
			start := time.Now()
			r.String(s)
			best = min(best, time.Since(start))
		}
		return float64(best) / float64(len(s))
	}
	for _, piece := range hostile() {
		small, large := strings.Repeat(piece, 10<<10/len(piece)), strings.Repeat(piece, 1<<20/len(piece))
		b.Run(strings.TrimSpace(piece), func(b *testing.B) {
			for b.Loop() {
				few := cost(small)
				many := cost(large)
				b.ReportMetric(many/few, "ratio")
				b.ReportMetric(many*float64(len(large))/1e6, "ms/MB")
			}
		})
	}
}
