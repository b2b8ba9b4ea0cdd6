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

// All spellings of a name have the same whole and the same parts, so each finds the
// others.
func TestSpellingsOfOneName(t *testing.T) {
	for name, c := range map[string]struct {
		want      string
		spellings []string
	}{
		"two words":        {"maxretry max retry", []string{"maxRetry", "MaxRetry", "max_retry", "max-retry", "MAX_RETRY", "Max-Retry", "max__retry", "_max_retry", "max_retry_", "__max_retry__", "--max-retry", "$maxRetry", "@maxRetry", "&max_retry", "maxRetry()"}},
		"an acronym in it": {"parsehttpurl parse http url", []string{"parseHTTPUrl", "ParseHttpUrl", "parse_http_url", "parse-http-url", "PARSE_HTTP_URL"}},
		"a number in it":   {"utf8decoder utf decoder", []string{"utf8_decoder", "utf8-decoder"}},
	} {
		for _, s := range c.spellings {
			have := terms.Index(s)
			if name == "a number in it" { // utf8 is a compound itself
				have = strings.ReplaceAll(have, " utf8 ", " ")
			}
			if have != c.want {
				t.Errorf("%s: Index(%q) = %q, want %q", name, s, have, c.want)
			}
		}
	}
}

func TestShapesOfIdentifiers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one letter in a name is noise", "iPhone x_axis", "iphone phone xaxis axi"},
		{"generic", "Map<String,Vec<u8>>", "map string vec u8"},
		{"method call", "db.Query(ctx, sql)", "db.query db query ctx sql"},
		{"chained", "a.b.c", "a.b.c"},
		{"C++ scope", "std::vector::push_back", "std vector pushback push back"},
		{"Rust macro", "println!(\"{}\")", "println"},
		{"PHP variable", "$this->db_conn", "thi dbconn db conn"},
		{"CSS class", ".btn-primary:hover", "btnprimary btn primary hover"},
		{"Makefile variable", "$(GO_FLAGS)", "goflags go flag"},
		{"environment", "${HOME}/.config", "home config"},
		{"Perl package", "Foo::Bar->new", "foo bar new"},
		{"SQL", "SELECT u.user_id FROM users u", "select u.userid userid user id from user u"},
		{"annotation", "@Override", "override"},
		{"pointer and slice", "*[]byte", "byte"},
		{"exported constant", "HTTPStatusOK", "httpstatusok http status ok"},
		{"two acronyms", "XMLHTTPRequest", "xmlhttprequest xmlhttp request"},
		{"ends in an acronym", "parseURL", "parseurl parse url"},
		{"a digit parts letters", "x86 i18n", "x86 86 i18n 18"},
		{"a number at the end", "retry3", "retry3 retry"},
		{"a long number at the end", "port8080", "port8080 port 8080"},

		{"issue", "#1234 GH-567", "1234 gh567 gh 567"},
		{"ticket", "PROJ-4711", "proj4711 proj 4711"},
		{"CVE", "CVE-2024-3094", "cve20243094 cve 2024 3094"},
		{"RFC", "RFC9110 RFC 9110", "rfc9110 rfc 9110 rfc 9110"},
		{"line and column", "main.go:12:34", "main.go main go 12 34"},
		{"Go test", "--- FAIL: TestFoo/bar_baz (0.00s)", "fail testfoo test foo barbaz bar baz 0.00s 00s 00"},
		{"Python error", "ModuleNotFoundError: No module named 'yaml'", "modulenotfounderror module not found error no module named yaml"},
		{"Java exception", "java.lang.NullPointerException", "java.lang.nullpointerexception java lang nullpointerexception null pointer exception"},
		{"signal", "SIGSEGV exit 139", "sigsegv exit 139"},
		{"Oracle", "ORA-00942", "ora00942 ora 00942"},
		{"Windows", "0x80070005", "0x80070005 80070005"},
		{"IP address", "192.168.0.1:8080", "192.168.0.1 192 168 8080"},
		{"MIME type", "application/json; charset=utf-8", "application json charset utf8 utf"},
		{"mail", "ada@example.org", "ada example.org example org"},
		{"module with a version", "golang.org/x/sys@v0.31.0", "golang.org golang org x sys 0.31.0 31"},
		{"npm scope", "@types/node@20", "type node 20"},
		{"image", "ghcr.io/a/app:1.2.3", "ghcr.io ghcr io a app 1.2.3"},
		{"double extension", "backup.tar.gz", "backup.tar.gz backup tar gz"},
		{"dotfile with an extension", ".eslintrc.json", "eslintrc.json eslintrc json"},
		{"home", "~/src/go.mod", "src go.mod go mod"},
		{"pre-release", "v2.0.0-rc.1", "2.0.0rc.1 0rc rc"},
		{"v without a number", "v2 vendor.go", "v2 vendor.go vendor go"},
		{"two dots join nothing", "a..b wait...done", "a b wait done"},
		{"a dash joins only between words", "foo- -bar foo--bar", "foo bar foo bar"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := terms.Index(c.text); have != c.want {
				t.Errorf("Index(%q)\nhave %q\nwant %q", c.text, have, c.want)
			}
		})
	}
}

func TestForeignScripts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"ligatures of two letters", "Æsop þorn ĳs Œuvre", "aesop thorn ijs oeuvre"},
		{"stroke letters", "Øresund đ ħ ł ŧ", "oresund d h l t"},
		{"Turkish", "İstanbul ısı", "istanbul isi"},
		{"long s", "ſchule", "schule"},
		{"the signs between the letters", "2×3÷4", "2 3 4"},
		{"superscripts", "x¹ y² z³ ⁰⁴⁹", "x1 y2 z3 049"},
		{"subscripts", "H₂O CO₂", "h2o co2 co"},
		{"typographic ligatures", "ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ", "ff fi fl ffi ffl st st"},
		{"full width", "ＡＢＣ １２３ ｐａｒｓｅ＿ｘｙ", "abc 123 parse xy"},
		{"Vietnamese, composed of marks", "Tie\u0302\u0301ng", "tieng"},
		{"Greek keeps its letters", "Ωμέγα", "ωμέγα"},
		{"Cyrillic case", "ПРИВЕТ Привет", "привет привет"},
		{"Arabic", "مرحبا", "مرحبا"},
		{"Devanagari with its signs", "नमस्ते", "नमस्ते"},
		{"Thai", "สวัสดี", "สวัสดี"},
		{"katakana", "テスト", "テス スト ト"},
		{"half-width katakana", "ﾃｽﾄ", "ﾃｽ ｽﾄ ﾄ"},
		{"ideographs outside the first plane", "𠀀𠀁", "𠀀𠀁 𠀁"},
		{"compatibility ideographs", "豈更", "豈更 更"},
		{"CJK punctuation parts runs", "中文。分词", "中文 文 分词 词"},
		{"Latin within Chinese", "用parseConfig解析", "用 parseconfig parse config 解析 析"},
		{"a name with accents", "créerFichier", "creerfichier creer fichier"},
		{"skin tones and flags", "👩🏽‍💻 🇩🇪", ""},
		{"only invalid bytes", "\xff\xfe\x80", ""},
		{"a replacement character", "a\ufffdb", "a b"},
		{"no-break and zero-width blanks", "a\u00a0b c\u200bd", "a b c d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := terms.Index(c.text); have != c.want {
				t.Errorf("Index(%q)\nhave %q\nwant %q", c.text, have, c.want)
			}
		})
	}
}

func TestPlurals(t *testing.T) {
	for _, c := range []struct {
		name     string
		together []string // have the same term
	}{
		{"s", []string{"token", "tokens", "Tokens"}},
		{"es after sh, ch, x, ss", []string{"push", "pushes"}},
		{"", []string{"batch", "batches"}},
		{"", []string{"index", "indexes"}},
		{"", []string{"process", "processes"}},
		{"e and s", []string{"cache", "caches"}},
		{"", []string{"file", "files"}},
		{"", []string{"database", "databases"}},
		{"ies", []string{"query", "queries"}},
		{"", []string{"directory", "directories"}},
		{"not short words", []string{"bus", "BUS"}},
	} {
		want := terms.Index(c.together[0])
		for _, w := range c.together {
			if have := terms.Index(w); have != want {
				t.Errorf("%s: %q is %q, %q is %q", c.name, w, have, c.together[0], want)
			}
		}
	}
	for _, apart := range [][2]string{{"status", "statue"}, {"class", "cla"}, {"pass", "pas"}, {"as", "a"}, {"ties", "ty"}, {"running", "run"}, {"parsed", "parse"}, {"corpus", "corpu"}} {
		if a, b := terms.Index(apart[0]), terms.Index(apart[1]); a == b {
			t.Errorf("%q and %q are both %q", apart[0], apart[1], a)
		}
	}
}

func TestHashes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"seven digits are the shortest", "a1b2c3d", "a1b2c3d"},
		{"six are a name", "a1b2c3", "a1b2c3"},
		{"no letter: a number", "1234567", "1234567"},
		{"no digit: a word", "effaced", "effaced"},
		{"a letter that is none of the sixteen", "a1b2c3g", "a1b2c3g"},
		{"SHA-256", strings.Repeat("0a", 32), strings.Repeat("0a", 32)},
		{"after a word", "sha256:" + strings.Repeat("0a", 20), "sha256 sha 256 " + strings.Repeat("0a", 20)},
		{"UUID in capitals", "7F3A12CD-1111-4222-8333-00000000000A", "7f3a12cd11114222833300000000000a"},
	} {
		if have := terms.Index(c.text); have != c.want {
			t.Errorf("%s: Index(%q) = %q, want %q", c.name, c.text, have, c.want)
		}
	}
}

func TestLongRuns(t *testing.T) {
	base64 := strings.Repeat("aB3x", 19) + "+/=="
	for _, c := range []struct{ name, text, want string }{
		{"a word is clipped", strings.Repeat("a", 200), strings.Repeat("a", terms.MaxTerm)},
		{"at a rune", strings.Repeat("я", 40), strings.Repeat("я", terms.MaxTerm/2)},
		{"within a rune", "a" + strings.Repeat("я", 40), "a" + strings.Repeat("я", terms.MaxTerm/2-1)},
		{"a name of many words", strings.Repeat("word_", 20) + "end", strings.Repeat("word", 16) + strings.Repeat(" word", 20) + " end"},
		{"base64 is kept by its beginning", base64, "ab3xab3xab3xab3x"},
		{"between words", "key " + base64 + " end", "key ab3xab3xab3xab3x end"},
		{"after a sign", "data:" + base64, "data ab3xab3xab3xab3x"},
		{"63 characters are a name", strings.Repeat("a1", 31) + "a", strings.Repeat("a1", 31) + "a"},
		{"a rule", strings.Repeat("-", 500) + " x " + strings.Repeat("=", 500), "x"},
	} {
		if have := terms.Index(c.text); have != c.want {
			t.Errorf("%s: Index = %q, want %q", c.name, have, c.want)
		}
	}
}

func TestTypedQueries(t *testing.T) {
	word := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1} }
	part := func(text string) archive.Term { return archive.Term{Text: text, Weight: 0.4} }
	must := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1, Must: true} }
	prefix := func(text string) archive.Term { return archive.Term{Text: text, Weight: 1, Prefix: true} }
	for _, c := range []struct {
		name, query string
		want        []archive.Term
	}{
		{"a question", "why did we choose sqlite?", []archive.Term{word("choose"), word("sqlite")}},
		{"a name with a star", "parseConf*", []archive.Term{prefix("parseconf"), part("parse"), part("conf")}},
		{"a star alone", "* foo", []archive.Term{word("foo")}},
		{"a star in the middle", "a*b", []archive.Term{prefix("a"), word("b")}},
		{"a star within quotes is text", `"pars*"`, []archive.Term{{Text: "par", Weight: 1, Must: true, Prefix: true}}},
		{"empty quotes", `"" foo ""`, []archive.Term{word("foo")}},
		{"three quotes: the last is text", `"a b" "c`, []archive.Term{must("a"), must("b"), word("c")}},
		{"quoted and typed", `lock "lock"`, []archive.Term{must("lock")}},
		{"the same name in two spellings", "max_retry maxRetry", []archive.Term{word("maxretry"), part("max"), part("retry")}},
		{"a hash of seven", "34c57ad", []archive.Term{prefix("34c57ad")}},
		{"a whole hash", strings.Repeat("0a", 20), []archive.Term{word(strings.Repeat("0a", 20))}},
		{"a version begins longer ones", "1.26", []archive.Term{prefix("1.26"), part("26")}},
		{"a number does not", "126", []archive.Term{word("126")}},
		{"a path", "internal/store.go", []archive.Term{word("internal"), word("store.go"), part("store"), part("go")}},
		{"a stop word with a star", "the*", []archive.Term{prefix("the")}},
		{"stop words beside a sign", "is it?! ...", []archive.Term{word("is"), word("it")}},
		{"contractions", "what's wrong with don't", []archive.Term{word("wrong"), word("don")}},
		{"quoted Chinese", `"中文"`, []archive.Term{must("中文")}},
		{"one character in quotes", `"猫"`, []archive.Term{{Text: "猫", Weight: 1, Must: true, Prefix: true}}},
		{"injection", `"; DROP TABLE x; --`, []archive.Term{word("drop"), word("table"), word("x")}},
		{"full text operators", "a NOT b ^c {d} +e", []archive.Term{word("b"), word("c"), word("e")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := terms.Query(c.query); !slices.Equal(have, c.want) {
				t.Errorf("Query(%q)\nhave %+v\nwant %+v", c.query, have, c.want)
			}
		})
	}
}

// words draws text as in sessions: names in all spellings, paths, prose, other scripts,
// invalid UTF-8.
func words() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"parseConfig", "max_retry", "HTTPServer", "v1.26.8", "3f9c2ab07d", "E0382", "internal/store_test.go", "queries", "Straße",
			"中文分词", "검색어", "Привет", "naïve", "--no-verify", "x86_64", "\"quoted\"", "star*", "the", "ﬁle", "²", "\xff", "👍",
		}),
		rapid.StringMatching(`[A-Za-z][A-Za-z0-9_.-]{0,12}`),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{" ", "\n", ", ", "/"}).Draw(t, "glue"))
	})
}

func typedIn(row []string, q archive.Term) bool {
	return slices.ContainsFunc(row, func(w string) bool { return w == q.Text || q.Prefix && strings.HasPrefix(w, q.Text) })
}

// Any part of a text between two spaces finds the text.
func TestAPartFindsItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := words().Draw(t, "text")
		row := strings.Fields(terms.Index(text))
		pieces := strings.Fields(strings.ReplaceAll(text, `"`, " "))
		if len(pieces) == 0 {
			return
		}
		piece := rapid.SampledFrom(pieces).Draw(t, "piece")
		for _, q := range terms.Query(piece) {
			if !typedIn(row, q) {
				t.Fatalf("%q of %q asks for %+v, indexed is %q", piece, text, q, row)
			}
		}
	})
}

// A name that is indexed in one spelling is found by any other spelling.
func TestAnySpellingFindsAnyOther(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{2,8}`)
	join := func(parts []string, how string) string {
		switch how {
		case "snake":
			return strings.Join(parts, "_")
		case "kebab":
			return strings.Join(parts, "-")
		case "screaming":
			return strings.ToUpper(strings.Join(parts, "_"))
		}
		var b strings.Builder
		for i, p := range parts {
			if i > 0 || how == "pascal" {
				p = strings.ToUpper(p[:1]) + p[1:]
			}
			b.WriteString(p)
		}
		return b.String()
	}
	how := rapid.SampledFrom([]string{"snake", "kebab", "screaming", "camel", "pascal"})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(word, 2, 4).Draw(t, "parts")
		stored, typed := join(parts, how.Draw(t, "stored")), join(parts, how.Draw(t, "typed"))
		row := strings.Fields(terms.Index("call " + stored + " now"))
		for _, q := range terms.Query(typed) {
			if !typedIn(row, q) {
				t.Fatalf("%q asks for %+v, of %q is indexed %q", typed, q, stored, row)
			}
		}
	})
}

// A text can be indexed in parts that end at spaces.
func TestIndexingInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := words().Draw(t, "a"), words().Draw(t, "b")
		var buf []byte
		for _, s := range []string{a, b} {
			if terms.Index(s) != "" {
				buf = terms.AppendTo(buf, s)
			}
		}
		if whole := terms.Index(a + " " + b); whole != string(buf) {
			t.Fatalf("the whole %q\nin pieces %q", whole, buf)
		}
		if paths := terms.Index(a + " " + b); paths != string(buf) {
			t.Fatalf("as paths %q\nin pieces %q", paths, buf)
		}
	})
}

// Case and diacritics make no difference to a plain word.
func TestCaseAndAccentsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abcéüñçøłžs")), 1, 12, -1).Draw(t, "word")
		upper := strings.ToUpper(s)
		if a, b := terms.Index(s), terms.Index(upper); a != b {
			t.Fatalf("%q is %q, %q is %q", s, a, upper, b)
		}
		for _, r := range terms.Index(s) {
			if r >= utf8.RuneSelf {
				t.Fatalf("%q is indexed as %q", s, terms.Index(s))
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"parseConfig", `"a b" c*`, "v1.26* 34c57ad", "中文 猫", "the who", `""""`, "a*b*", strings.Repeat("x y ", 90)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		have := terms.Query(query)
		if len(have) > terms.MaxQuery {
			t.Fatalf("%d terms", len(have))
		}
		seen := map[string]bool{}
		for _, q := range have {
			checkTerm(t, q.Text)
			if seen[q.Text] {
				t.Errorf("Query(%q) returns %q twice", query, q.Text)
			}
			seen[q.Text] = true
			if q.Must && strings.Count(query, `"`) < 2 {
				t.Errorf("Query(%q) requires %q", query, q.Text)
			}
		}
		if (len(have) == 0) != (terms.Index(query) == "") {
			t.Errorf("Query(%q) = %v, indexed as %q", query, have, terms.Index(query))
		}
	})
}
