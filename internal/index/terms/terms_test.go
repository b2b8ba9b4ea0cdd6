package terms_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

func TestIndex(t *testing.T) {
	long := strings.Repeat("abcdefghij", 8)
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no words", " .,;-_ \n\t()[]{}", ""},
		{"words", "Hello, World", "hello world"},
		{"twice", "again and again", "again and again"},
		{"single letters", "a C 1", "a c 1"},

		{"camelCase", "parseConfigFile", "parseconfigfile parse config file"},
		{"PascalCase", "ParseConfigFile", "parseconfigfile parse config file"},
		{"snake_case", "parse_config_file", "parseconfigfile parse config file"},
		{"SCREAMING_CASE", "PARSE_CONFIG_FILE", "parseconfigfile parse config file"},
		{"kebab-case", "parse-config-file", "parseconfigfile parse config file"},
		{"acronym in front", "HTTPServer", "httpserver http server"},
		{"acronym inside", "getHTTPResponse", "gethttpresponse get http response"},
		{"dunder", "__init__ a__b_c", "init abc"},
		{"option", "--no-verify -x", "noverify no verify x"},
		{"dashes that join nothing", "yes - no -- maybe", "yes no maybe"},

		{"dotted name", "os.path.join", "os.path.join os path join"},
		{"end of a sentence", "It works. Really.", "it work really"},
		{"file name", "store_test.go", "storetest.go storetest store test go"},
		{"hidden file", ".gitignore", "gitignore"},
		{"path", "internal/store/Main.java:12", "internal store main.java main java 12"},
		{"Windows path", `C:\src\app.cs`, "c src app.cs app cs"},
		{"URL", "https://example.org/a?b=cd", "http example.org example org a b cd"},

		{"Rust", "error[E0382]", "error e0382 0382"},
		{"TypeScript", "TS2304", "ts2304 ts 2304"},
		{"errno", "ENOENT", "enoent"},
		{"Node", "ERR_MODULE_NOT_FOUND", "errmodulenotfound err module not found"},
		{"SQLSTATE", "SQLSTATE 23505", "sqlstate 23505"},
		{"HTTP", "HTTP 404", "http 404"},
		{"letters and digits", "sha256sum utf8", "sha256sum sha 256 sum utf8 utf"},

		{"version", "v1.26.8", "1.26.8 26"},
		{"version without v", "1.26.8", "1.26.8 26"},
		{"numbers", "42 3.14 0x1F", "42 3.14 14 0x1f"},
		{"date and time", "2026-11-20 10:11", "20261120 2026 11 20 10 11"},

		{"short hash", "commit 3f9c2ab", "commit 3f9c2ab"},
		{"long hash", "3F9C2AB07D1E4C5B6A798081726354455463728F", "3f9c2ab07d1e4c5b6a798081726354455463728f"},
		{"hash in a name", "build-3f9c2ab07d.tar", "build3f9c2ab07d.tar build3f9c2ab07d build 3f9c2ab07d tar"},
		{"code in a name", "fix_E0382", "fixe0382 fix e0382 0382"},
		{"UUID", "7f3a12cd-1111-4222-8333-00000000000a", "7f3a12cd111142228333" + "00000000000a"},
		{"hexadecimal word", "defaced facade", "defaced facade"},

		{"diacritics", "Café ÉLAN Łódź straße", "cafe elan lodz strasse"},
		{"combining marks", "cafe\u0301", "cafe"},
		{"compatibility forms", "ﬁle ２０ x²", "file 20 x2"},
		{"humps after folding", "ÉtatCivil", "etatcivil etat civil"},
		{"Greek and Cyrillic", "ΑΒΓ Привет", "αβγ привет"},
		{"Chinese", "中文分词", "中文 文分 分词 词"},
		{"Japanese among Latin", "Goの検索x", "go の検 検索 索 x"},
		{"Korean", "검색어", "검색 색어 어"},
		{"one character", "猫", "猫"},
		{"emoji", "👍🏽 ok 🇫🇷", "ok"},
		{"invalid UTF-8", "a\xffb \xc3", "a b"},

		{"plurals", "tests branches queries boxes classes caches", "test branch query box class cache"},
		{"no plurals", "status class bus this is", "status class bus thi is"},
		{"plural parts", "list_tests.go", "listtests.go listtests list test go"},

		{"clipped", long, long[:terms.MaxTerm]},
		{"base64", "key dGhpcyBpcyBhIHRlc3QgZ+yZm9ydCB0aGF0/dG8gYmUgc3VyZSBpdCB3b3Jrcw4Kf9cT2XqPz0aB1kLmN8d== end", "key dghpcybpcybhihrl end"},
		{"a long path is no base64", strings.Repeat("internal/store/", 6) + "x", strings.Repeat("internal store ", 6) + "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if have := terms.Index(test.text); have != test.want {
				t.Errorf("Index(%q)\nhave %q\nwant %q", test.text, have, test.want)
			}
		})
	}
}

func TestQuery(t *testing.T) {
	word := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1} }
	part := func(text string) archive.Term { return archive.Term{Text: text, Weight: 0.4} }
	must := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1, Must: true} }
	prefix := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1, Prefix: true} }
	for _, test := range []struct {
		name, query string
		want        []archive.Term
	}{
		{"nothing", "", nil},
		{"no words", `?! "" * 🚀`, nil},
		{"words", "Fix parser", []archive.Term{word("fix"), word("parser")}},
		{"parts weigh less", "parseConfig", []archive.Term{word("parseconfig"), part("parse"), part("config")}},
		{"a part that is typed too", "parseConfig config", []archive.Term{word("parseconfig"), part("parse"), word("config")}},
		{"each once", "a.go b.go go", []archive.Term{word("a.go"), word("go"), word("b.go")}},
		{"quotes", `find "dead lock" now`, []archive.Term{word("find"), must("dead"), must("lock"), word("now")}},
		{"a quoted name", `"parseConfig"`, []archive.Term{must("parseconfig"), part("parse"), part("config")}},
		{"an open quote", `say "hello`, []archive.Term{word("say"), word("hello")}},
		{"star", "pre* x", []archive.Term{prefix("pre"), word("x")}},
		{"star after an apparent plural", "pars*", []archive.Term{prefix("pars"), part("par")}},
		{"abbreviated hash", "3f9c2ab", []archive.Term{prefix("3f9c2ab")}},
		{"UUID, cut", "7f3a12cd-1111", []archive.Term{prefix("7f3a12cd1111"), part("7f3a12cd"), part("1111")}},
		{"whole UUID", "7f3a12cd-1111-4222-8333-00000000000a", []archive.Term{word("7f3a12cd11114222833300000000000a")}},
		{"version, cut", "v1.26", []archive.Term{prefix("1.26"), part("26")}},
		{"operators are words", "x NEAR(y) OR col:z^2", []archive.Term{word("x"), word("near"), word("y"), word("col"), word("z"), word("2")}},
		{"stop words", "how does the parser work", []archive.Term{word("parser"), word("work")}},
		{"nothing but stop words", "how is it", []archive.Term{word("how"), word("is"), word("it")}},
		{"a quoted stop word", `the "who"`, []archive.Term{must("who")}},
		{"plural", "tests", []archive.Term{word("test")}},
		{"pairs", "中文词", []archive.Term{word("中文"), word("文词")}},
		{"one character", "猫", []archive.Term{prefix("猫")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if have := terms.Query(test.query); !slices.Equal(have, test.want) {
				t.Errorf("Query(%q)\nhave %+v\nwant %+v", test.query, have, test.want)
			}
		})
	}
	var b strings.Builder
	for i := range 500 {
		b.WriteString(strings.Repeat("z", i%40+1) + string(rune('a'+i%26)) + " ")
	}
	if n := len(terms.Query(b.String())); n != terms.MaxQuery {
		t.Errorf("%d terms of a long query, want %d", n, terms.MaxQuery)
	}
}

// A query for the words of a text matches the text.
func TestQueryMatchesItsText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aAbZ09_-./ éß中文🚀'\"")), 0, 40, -1).Draw(r, "text")
		indexed := strings.Fields(terms.Index(text))
		for _, q := range terms.Query(text) {
			found := slices.ContainsFunc(indexed, func(w string) bool {
				return w == q.Text || q.Prefix && strings.HasPrefix(w, q.Text)
			})
			if !found {
				r.Fatalf("term %+v of the query is not among %q", q, indexed)
			}
		}
	})
}

// FuzzIndex checks the form of terms, which stores rely on.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		"parseConfigFile v1.26.8 E0382", "a\xff\xc3(", "日本語 検索 x", "__a..b--c__", "dGhpcyBpcyBhIHRlc3QgZ+yZm9ydCB0aGF0/dG8gYmUgc3VyZSBpdCB3b3Jrcw4Kf9cT2XqPz0aB1kLmN8d==",
		"ﬃ ² ⁴ Ĳ İ ı", "e\u0301\u0300", strings.Repeat("é", 70), `"x* y" z*`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		row := terms.Index(text)
		if string(terms.AppendTo([]byte("x"), text)) != strings.TrimSuffix("x "+row, " ") {
			t.Fatalf("AppendTo differs from Index for %q", text)
		}
		if row == "" {
			return
		}
		for term := range strings.SplitSeq(row, " ") {
			checkTerm(t, term)
		}
		for _, q := range terms.Query(text) {
			checkTerm(t, q.Text)
			if q.Weight <= 0 || q.Weight > 1 {
				t.Errorf("weight %v", q.Weight)
			}
		}
	})
}

func checkTerm(t *testing.T, term string) {
	t.Helper()
	switch {
	case term == "" || len(term) > terms.MaxTerm:
		t.Errorf("a term of %d bytes: %q", len(term), term)
	case !utf8.ValidString(term):
		t.Errorf("invalid UTF-8: %q", term)
	}
	for _, r := range term {
		if r < utf8.RuneSelf && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9') || r == '²' {
			t.Errorf("%q holds %q", term, r)
		}
	}
}

func BenchmarkAppendTo(b *testing.B) {
	text := strings.Repeat("func parseConfigFile(path string) (*Config, error) { // reads internal/config/parse_test.go, see E0382\n"+
		"The quick brown fox jumps over the lazy dog and fails with exit status 1 at 3f9c2ab07d1e.\n", 300)
	b.SetBytes(int64(len(text)))
	var buf []byte
	for b.Loop() {
		buf = terms.AppendTo(buf[:0], text)
	}
}
