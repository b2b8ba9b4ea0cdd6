package install

import (
	"encoding/json"
	"strings"
	"testing"
)

func mustParseDoc(t testing.TB, text string) *settingsDoc {
	t.Helper()
	doc, err := parseDoc([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "line 1, column 2", `{"a"}`: "line 1, column 5", `{"a":}`: "line 1, column 6", `{"a":1 "b":2}`: "line 1, column 8", `{,}`: "line 1, column 2",
		`[1,,2]`: "line 1, column 4", `{'a':1}`: "line 1, column 2", `{a:1}`: "line 1, column 2", "{\n  \"a\": nul\n}": "line 2, column 8",
		`{"a":01}`: "line 1, column 6", `{"a":"b`: "line 1, column 8", `{"a":"\q"}`: "line 1, column 6", "{\"a\":\"b\nc\"}": "line 1, column 6",
		`{} {}`: "line 1, column 4", `{}/`: "line 1, column 3", `/* `: "line 1, column 1", `]`: "line 1, column 1", `[1}`: "line 1, column 3",
		"\xff\xfe{\x00}\x00": "line 1, column 1", "\x00": "line 1, column 1", strings.Repeat("[", 200_000): "too many",
		`[1 / 2]`: "line 1, column 4", `[1 /* 2]`: "line 1, column 4", "[\"a\tb\"]": "line 1, column 2",
	} {
		if _, err := parseDoc([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func TestGet(t *testing.T) {
	doc := mustParseDoc(t, "\ufeff// c\n{\"a\": [1, {\"b\": \"x\\u00e9\\n\"}, /* d */ null,], \"a2\": {}, \"dup\": 1, \"dup\": 2}")
	if got, ok := doc.text("a", 1, "b"); !ok || got != "xé\n" {
		t.Errorf("got %q, %v", got, ok)
	}
	if got := string(doc.raw("dup")); got != "2" {
		t.Errorf("the last of two members counts, got %s", got)
	}
	for _, path := range [][]any{{}, {"a"}, {"a", 0}, {"b", "c"}} {
		if doc.hides(path...) {
			t.Errorf("%v is reported as hiding a member", path)
		}
	}
	if !doc.hides("dup") {
		t.Error("the second of two members does not hide the first")
	}
	for _, path := range [][]any{{"b"}, {"a", 3}, {"a", -1}, {"a", "b"}, {"a2", 0}, {"dup", "x"}, {"a", 1.0}} {
		if doc.get(path...) != nil || doc.raw(path...) != nil {
			t.Errorf("%v has a value", path)
		}
		if _, ok := doc.text(path...); ok {
			t.Errorf("%v is a text", path)
		}
	}
	if _, ok := doc.text("a2"); ok {
		t.Error("an object is a text")
	}
}

func TestPlain(t *testing.T) {
	for _, tc := range []struct{ text, plain, notice string }{
		{"", "", ""},
		{"\ufeff{}", "{}", ""},
		{"{\"a\":\"// x, ]\"}", "{\"a\":\"// x, ]\"}", ""},
		{"{} // c", "{}     ", "comments"},
		{"[1,]", "[1 ]", "trailing commas"},
		{"[1,/*\n,*/]", "[1   \n   ]", "comments and trailing commas"},
		{"[1, // a\n2, // b\n]", "[1,     \n2      \n]", "comments and trailing commas"},
	} {
		doc := mustParseDoc(t, tc.text)
		if got := string(doc.plain); got != tc.plain || doc.notice() != tc.notice {
			t.Errorf("%q: got %q, %q", tc.text, got, doc.notice())
		}
		if string(doc.src) != tc.text {
			t.Errorf("%q was changed", tc.text)
		}
	}
}

func TestBare(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \n": true, "{}": true, "{ }": true, "{\"a\":1}": false, "// c": false, "{}//": false, "[]": false, "1": false,
	} {
		if got := mustParseDoc(t, text).bare(); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestEdits(t *testing.T) {
	type pair struct {
		A int `json:"a"`
	}
	set := func(d *settingsDoc) error { return d.set(pair{1}, "k") }
	setInX := func(d *settingsDoc) error { return d.set(pair{1}, "k", "x") }
	appendX := func(d *settingsDoc) error { return d.append(pair{1}, "x") }
	for _, tc := range []struct {
		name, before string
		edit         func(*settingsDoc) error
		after        string
		undo         []any
		undone       string // where it differs from before
	}{
		{"no root", "", set, "{\n  \"k\": {\n    \"a\": 1\n  }\n}\n", []any{"k"}, "{}\n"},
		{"comment without a root", "// c", set, "// c\n{\n  \"k\": {\n    \"a\": 1\n  }\n}\n", []any{"k"}, "// c\n{}\n"},
		{"empty", "{}", set, "{\n  \"k\": {\n    \"a\": 1\n  }\n}", []any{"k"}, ""},
		{"empty with blanks", "{ \t}", set, "{\n  \"k\": {\n    \"a\": 1\n  }\n}", []any{"k"}, "{}"},
		{"minified", `{"x":1}`, set, `{"x":1,"k":{"a":1}}`, []any{"k"}, ""},
		{"one line", `{ "x": 1 }`, set, `{ "x": 1, "k": {"a": 1} }`, []any{"k"}, ""},
		{"lines", "{\n   \"x\": 1\n}", set, "{\n   \"x\": 1,\n   \"k\": {\n      \"a\": 1\n   }\n}", []any{"k"}, ""},
		{"CRLF", "{\r\n\t\"x\": 1\r\n}\r\n", set, "{\r\n\t\"x\": 1,\r\n\t\"k\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}\r\n", []any{"k"}, ""},
		{"trailing comma", "{\n  \"x\": 1,\n}", set, "{\n  \"x\": 1,\n  \"k\": {\n    \"a\": 1\n  },\n}", []any{"k"}, ""},
		{"comment after the last", "{\n  \"x\": 1 // c\n}", set, "{\n  \"x\": 1, // c\n  \"k\": {\n    \"a\": 1\n  }\n}", []any{"k"}, ""},
		{"comment of two lines after the last", "{\n  \"x\": 1 /* c\n  d */\n}", set, "{\n  \"x\": 1, /* c\n  d */\n  \"k\": {\n    \"a\": 1\n  }\n}", []any{"k"}, ""},
		{"comment below the last", "{\n  \"x\": 1\n  // c\n}", set, "{\n  \"x\": 1,\n  \"k\": {\n    \"a\": 1\n  }\n  // c\n}", []any{"k"}, ""},
		{"blanks after the last", "{\n  \"x\": 1  \n}", set, "{\n  \"x\": 1,  \n  \"k\": {\n    \"a\": 1\n  }\n}", []any{"k"}, ""},
		{"brace after the last", "{\n  \"x\": 1 }", set, "{\n  \"x\": 1,\n  \"k\": {\n    \"a\": 1\n  } }", []any{"k"}, "{\n  \"x\": 1\n  }"},
		{"into an empty member", "{\n  \"x\": {}\n}", setInX, "{\n  \"x\": {\n    \"k\": {\n      \"a\": 1\n    }\n  }\n}", []any{"x", "k"}, ""},
		{"into an open member", "{\n  \"x\": {\n  }\n}", setInX, "{\n  \"x\": {\n    \"k\": {\n      \"a\": 1\n    }\n  }\n}", []any{"x", "k"}, "{\n  \"x\": {}\n}"},
		{"into a minified member", `{"x":{}}`, setInX, `{"x":{"k":{"a":1}}}`, []any{"x", "k"}, ""},
		{"into an empty list", "{\n  \"x\": []\n}", appendX, "{\n  \"x\": [\n    {\n      \"a\": 1\n    }\n  ]\n}", []any{"x", 0}, ""},
		{"into a list in one line", "{\n  \"x\": [1, 2]\n}", appendX, "{\n  \"x\": [1, 2, {\"a\": 1}]\n}", []any{"x", 2}, ""},
		{"into a list with a trailing comma", `{"x":[1,]}`, appendX, `{"x":[1,{"a":1},]}`, []any{"x", 1}, ""},
		{"into a commented list", "{\n  \"x\": [\n    // none\n  ]\n}", appendX, "{\n  \"x\": [\n    // none\n    {\n      \"a\": 1\n    }\n  ]\n}", []any{"x", 0}, ""},
		{"into a list with a comment inside", `{"x":[/* none */]}`, appendX, `{"x":[/* none */ {"a":1} ]}`, []any{"x", 0}, "{\"x\":[/* none */ ]}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := mustParseDoc(t, tc.before)
			if err := tc.edit(doc); err != nil {
				t.Fatal(err)
			}
			if got := string(doc.src); got != tc.after {
				t.Errorf("after:\n%s\nwant:\n%s", got, tc.after)
			}
			if err := doc.delete(tc.undo...); err != nil {
				t.Fatal(err)
			}
			want := tc.before
			if tc.undone != "" {
				want = tc.undone
			}
			if got := string(doc.src); got != want {
				t.Errorf("undone:\n%q\nwant:\n%q", got, want)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		path         []any
		after        string
	}{
		{"the first of a line", `{"a": 1, "b": 2}`, []any{"a"}, `{"b": 2}`},
		{"the last of a line", `{"a": 1, "b": 2}`, []any{"b"}, `{"a": 1}`},
		{"the only one of a line", `{ "a": 1 }`, []any{"a"}, `{}`},
		{"one in the middle", "[\n  1,\n  2,\n  3\n]", []any{1}, "[\n  1,\n  3\n]"},
		{"one in the middle of a line", "[1, 2, 3]", []any{1}, "[1, 3]"},
		{"the last one and the comma before", "[\n  1, // c\n  2\n]", []any{1}, "[\n  1 // c\n]"},
		{"a comment after it stays", "[\n  1,\n  2 // c\n]", []any{1}, "[\n  1\n  // c\n]"},
		{"a comment before it stays", "[\n  /* c */ 1,\n  2\n]", []any{0}, "[\n  /* c */\n  2\n]"},
		{"two on a line that begins with it", "[\n  1, 2,\n  3\n]", []any{0}, "[\n  2,\n  3\n]"},
		{"an item before a line comment", "[1, // c\n2]", []any{0}, "[// c\n2]"},
		{"a missing member", `{"a": 1}`, []any{"b"}, `{"a": 1}`},
		{"a missing parent", `{"a": 1}`, []any{"b", "c"}, `{"a": 1}`},
		{"the last of two with one name", `{"a": 1, "a": 2}`, []any{"a"}, `{"a": 1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := mustParseDoc(t, tc.before)
			if err := doc.delete(tc.path...); err != nil {
				t.Fatal(err)
			}
			if got := string(doc.src); got != tc.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.after)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	doc := mustParseDoc(t, "{\n  \"a\": 1, // one\n  \"b\": [\n    2\n  ]\n}")
	if err := doc.set("x<&>", "a"); err != nil {
		t.Fatal(err)
	}
	if err := doc.setItem([]int{3, 4}, "b"); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a\": \"x<&>\", // one\n  \"b\": [\n    3,\n    4\n  ]\n}"; string(doc.src) != want {
		t.Errorf("got %s", doc.src)
	}
}

func TestEditsRefuse(t *testing.T) {
	for name, edit := range map[string]func(*settingsDoc) error{
		"set in a list":               func(d *settingsDoc) error { return d.set(1, "k", "list") },
		"set in a missing object":     func(d *settingsDoc) error { return d.set(1, "k", "none") },
		"append to an object":         func(d *settingsDoc) error { return d.append(1) },
		"append to a missing list":    func(d *settingsDoc) error { return d.append(1, "none") },
		"replace a missing value":     func(d *settingsDoc) error { return d.setItem(1, "none") },
		"delete the root":             func(d *settingsDoc) error { return d.delete() },
		"set an invalid value":        func(d *settingsDoc) error { return d.set(func() {}, "k") },
		"append an invalid value":     func(d *settingsDoc) error { return d.append(func() {}, "list") },
		"replace by an invalid value": func(d *settingsDoc) error { return d.setItem(func() {}, "list") },
		"set in a bare string":        func(d *settingsDoc) error { return d.set(1, "k", "text") },
	} {
		const text = `{"list":[], "text": "x"}`
		doc := mustParseDoc(t, text)
		if err := edit(doc); err == nil {
			t.Errorf("%s: no error", name)
		}
		if string(doc.src) != text {
			t.Errorf("%s: left %s", name, doc.src)
		}
	}
}

func FuzzEdits(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\n}", `{"a":1}`, "{\n\t\"a\": [1, 2,],\n}\n", "// c\n{ /* d */ }", "\ufeff{\r\n \"x\": 1 // y\r\n}",
		`{"a":{"b":[{}]}}`, "[1]", "{\"a\":1,\"a\":2}", "{ /* a */ \"x\" /* b */ : /* c */ 1 /* d */ , /* e */ }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parseDoc([]byte(text))
		if err != nil {
			return
		}
		if root := doc.get(); root != nil && (root.kind != kindObject || doc.get("k k") != nil) {
			return
		}
		before := decodeDoc(t, doc)
		if err := doc.set([]int{1}, "k k"); err != nil {
			t.Fatal(err)
		}
		if err := doc.append(map[string]int{"x": 2}, "k k"); err != nil {
			t.Fatal(err)
		}
		if got := decodeDoc(t, doc)["k k"]; got != `[1,{"x":2}]` {
			t.Fatalf("added %q, got %q in %q", text, got, doc.src)
		}
		if err := doc.delete("k k", 0); err != nil {
			t.Fatal(err)
		}
		if err := doc.delete("k k"); err != nil {
			t.Fatal(err)
		}
		after := decodeDoc(t, doc)
		if len(before) != len(after) {
			t.Fatalf("%q became %q", text, doc.src)
		}
		for k, v := range before {
			if after[k] != v {
				t.Fatalf("%q became %q", text, doc.src)
			}
		}
	})
}

func decodeDoc(t *testing.T, doc *settingsDoc) map[string]string {
	t.Helper()
	plain := doc.plain
	raw := map[string]json.RawMessage{}
	if strings.TrimSpace(string(plain)) != "" {
		if err := json.Unmarshal(plain, &raw); err != nil {
			t.Fatalf("%v in %q", err, plain)
		}
	}
	members := map[string]string{}
	for k, v := range raw {
		members[k] = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n", r) {
				return -1
			}
			return r
		}, string(v))
	}
	return members
}
