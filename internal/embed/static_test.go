package embed

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// words returns the stems in a text.
func words(t testing.TB, text string) string {
	t.Helper()
	tab, err := NewStatic().load()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	k := tokenizer{table: tab, emit: func(row int) { out = append(out, tab.stem(row)) }}
	k.read(text)
	return strings.Join(out, " ")
}

// stem returns the text of a row.
func (t *table) stem(row int) string {
	at := int(t.at[row])
	return t.data[at+2 : at+2+int(t.data[at+1])]
}

// The examples of the table's documentation.
func TestTokens(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"don't panic, it's only a warning", "dont panic its onli warn"},
		{"HTTPServer parseURLs", "http server pars url"},
		{"userID user_ids USER2FA", "user id user ids user2 fa"},
		{"GitHub JavaScript PostgreSQL", "github javascript postgresql"},
		{"getElementById", "get element by id"},
		{"sha256sum utf8 ipv4 x86_64", "utf8 ipv4 x86"},
		{"goroutineleak", "goroutin leak"},
		{"configfile", "configfil"},
		{"runningtests mutexlock", "run test mutex lock"},
		{"café naïve", "caf na ve"},
		{"Authentication authenticated authenticating", "authent authent authent"},
		{"auth login signin", "auth login"},
		{"OAuth2Token", "auth2 token"},
		{"k8s i18n c++", "k8s i18n"},
		{"database/sql.DB.QueryRowContext", "databas sql db queri row context"},
		{"v1.24.3", "v1"},
		{"3f9a1c2e 2024-05-01 404", "404"},
		{"retryWithBackoff(maxAttempts=5)", "retri with backoff max attempt"},
		{"timeouts2 sleep10ms", "timeout"},
		{"iOS macOS iPhone", "ios maco phone"},
		// Additional ones: no text, the limits, an apostrophe at the end.
		{"", ""},
		{"'' 'test' test' x", "test test"},
		{"authauthauthauth", "auth auth auth auth"}, // at most four pieces
		{"authauthauthauthauth", ""},
		{strings.Repeat("test", 7), ""},        // 28 bytes: too long to split
		{"test" + strings.Repeat("1", 29), ""}, // 33 bytes: too long for a word
		{"test" + strings.Repeat("1", 28), "test"},
		{"fooTest" + strings.Repeat("1", 33), "foo"}, // 40 bytes: a run; its second part is too long
		{"fooTest" + strings.Repeat("1", 34), ""},
		{"日本語 🎉 тест", ""},
	} {
		if got := words(t, test.text); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// embedOne returns one text's vector.
func embedOne(t testing.TB, e Embedder, text string) []float32 {
	t.Helper()
	vs, err := e.Embed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return vs[0]
}

// The checks of the table's documentation: first components of vectors, and cosines.
func TestVectors(t *testing.T) {
	texts := []string{
		"auth optimization", "speed up authentication", "the database query is slow",
		"retryWithBackoff(maxAttempts=5)", "GitHub Actions workflow fails, workflow cancelled",
	}
	want := [][4]float64{
		{-.1668, .0069, -.0383, .0124}, {.0344, .0461, -.1519, -.1035}, {.0024, .0877, -.2406, -.0085},
		{.0222, .0634, -.3835, -.0852}, {.0176, -.0653, -.1566, -.1904},
	}
	vs, err := NewStatic().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		for j, w := range want[i] {
			if got := float64(vs[i][j]); math.Abs(got-w) > .0005 {
				t.Errorf("%q, component %d: %.4f, want %.4f", text, j+1, got, w)
			}
		}
		if n := Cosine(vs[i], vs[i]); math.Abs(n-1) > 1e-5 {
			t.Errorf("%q: length %v", text, n)
		}
	}
	for _, test := range []struct {
		x, y int
		want float64
	}{{1, 2, .6123}, {1, 3, .1436}, {2, 3, .1883}, {2, 4, .2422}, {3, 5, -.0419}, {4, 5, .1763}} {
		if got := Cosine(vs[test.x-1], vs[test.y-1]); math.Abs(got-test.want) > .0005 {
			t.Errorf("cosine of %d and %d: %.4f, want %.4f", test.x, test.y, got, test.want)
		}
	}
}

func TestNoKnownWord(t *testing.T) {
	for _, text := range []string{"", " \n\t", "🎉", "zzqxv", "3f9a1c2e"} {
		if v := embedOne(t, NewStatic(), text); v != nil {
			t.Errorf("%q has a vector", text)
		}
	}
	if v := embedOne(t, NewStatic(), strings.Repeat("test ", 70_000)); v == nil {
		t.Error("a word that occurs 70,000 times has no vector")
	}
}

// A text's vector does not depend on the other texts of the batch.
func TestBatchEqualsSingle(t *testing.T) {
	texts := []string{"login broken", "", "the login form, the login page", "authentication failure"}
	e := NewStatic()
	vs, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		one := embedOne(t, e, text)
		if len(one) != len(vs[i]) {
			t.Fatalf("%q: %d and %d components", text, len(one), len(vs[i]))
		}
		for j := range one {
			if one[j] != vs[i][j] {
				t.Fatalf("%q: component %d differs", text, j)
			}
		}
	}
}

func TestEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewStatic().Embed(ctx, []string{"text"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context canceled", err)
	}
}

func TestDamagedTable(t *testing.T) {
	for name, data := range map[string]string{
		"empty":            "",
		"another file":     strings.Repeat("x", 100),
		"no stems":         tableMagic + "\x00\x00\x00\x00\x80\x00\x00\x00",
		"too many stems":   tableMagic + "\xff\xff\xff\xff\x80\x00\x00\x00",
		"cut in its stems": builtIn[:1000],
		"cut in its rows":  builtIn[:len(builtIn)-1],
		"longer":           builtIn + "x",
	} {
		if _, err := openTable(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTableShape(t *testing.T) {
	e := NewStatic()
	tab, err := e.load()
	if err != nil {
		t.Fatal(err)
	}
	if tab.n != 23_976 || tab.dim != StaticDim || e.Dim() != StaticDim || e.Name() != StaticName {
		t.Errorf("%d stems of %d dimensions", tab.n, tab.dim)
	}
	for row := range tab.n {
		if found, _, ok := tab.find([]byte(tab.stem(row))); !ok || found != row {
			t.Fatalf("row %d (%q) is found as %d", row, tab.stem(row), found)
		}
	}
}

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{"getElementById", "URLs's", "don't", "a\x00b\xff", strings.Repeat("A", 100), "runningtests"} {
		f.Add(s)
	}
	e := NewStatic()
	f.Fuzz(func(t *testing.T, text string) {
		if v := embedOne(t, e, text); v != nil && math.Abs(Cosine(v, v)-1) > 1e-3 {
			t.Errorf("%q has a vector of length %v", text, Cosine(v, v))
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := openTable(builtIn); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPassage embeds passages of 700 characters.
func BenchmarkPassage(b *testing.B) {
	text := strings.Repeat("I set maxBackoff to 4500 ms because the gateway bans clients that retry within a second; see internal/pay/retry.go. ", 7)[:ChunkSize]
	e := NewStatic()
	batch := make([]string, 64)
	for i := range batch {
		batch[i] = text
	}
	b.SetBytes(int64(len(text) * len(batch)))
	for b.Loop() {
		if _, err := e.Embed(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch)), "ns/passage")
}

// Any data is rejected, or every row of the table can be added.
func FuzzTable(f *testing.F) {
	small := tableMagic + "\x02\x00\x00\x00\x02\x00\x00\x00" + "\x01\x02ab" + "\x02\x01c" + "\x00\x00\x80\x3f\x00\x00\x80\x3f" + "\x01\x02\x03\x04"
	if _, err := openTable(small); err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add(small[:len(small)-1])
	f.Add(tableMagic)
	f.Fuzz(func(t *testing.T, data string) {
		table, err := openTable(data)
		if err != nil {
			return
		}
		v := make([]float32, table.dim)
		for row := range table.n {
			if at, _, ok := table.find([]byte(table.stem(row))); !ok || table.stem(at) != table.stem(row) {
				t.Errorf("row %d is not found by its stem", row)
			}
			table.add(v, row, 1)
		}
	})
}
