package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type hook struct {
	Type string   `json:"type"`
	Args []string `json:"args,omitempty"`
}

func TestLayoutOfAddedText(t *testing.T) {
	value := hook{Type: "run", Args: []string{"a", "b:,c"}}
	for _, c := range []struct {
		name, before string
		path         []any // of the object that "k" is set in, of a list that it is appended to
		after        string
	}{
		{"four blanks", "{\n    \"x\": {}\n}\n", nil, "{\n    \"x\": {}|,\n    \"k\": {\n        \"type\": \"run\",\n        \"args\": [\n            \"a\",\n            \"b:,c\"\n        ]\n    }|\n}\n"},
		{"tabs", "{\n\t\"x\": 1\n}", nil, "{\n\t\"x\": 1|,\n\t\"k\": {\n\t\t\"type\": \"run\",\n\t\t\"args\": [\n\t\t\t\"a\",\n\t\t\t\"b:,c\"\n\t\t]\n\t}|\n}"},
		{"one blank", "{\n \"x\": 1\n}", nil, "{\n \"x\": 1|,\n \"k\": {\n  \"type\": \"run\",\n  \"args\": [\n   \"a\",\n   \"b:,c\"\n  ]\n }|\n}"},
		{"Windows line ends", "{\r\n  \"x\": 1\r\n}\r\n", nil, "{\r\n  \"x\": 1|,\r\n  \"k\": {\r\n    \"type\": \"run\",\r\n    \"args\": [\r\n      \"a\",\r\n      \"b:,c\"\r\n    ]\r\n  }|\r\n}\r\n"},
		{"all on one line", `{"x": 1, "y": [2]}`, nil, `{"x": 1, "y": [2]|, "k": {"type": "run", "args": ["a", "b:,c"]}|}`},
		{"without blanks", `{"x":1}`, nil, `{"x":1|,"k":{"type":"run","args":["a","b:,c"]}|}`},
		{"a member per line, lists on one", "{\n  \"x\": [1, 2],\n  \"y\": {\"z\": 3}\n}", []any{"y"}, "{\n  \"x\": [1, 2],\n  \"y\": {\"z\": 3|, \"k\": {\"type\": \"run\", \"args\": [\"a\", \"b:,c\"]}|}\n}"},
		{"the object begins on its key's line", "{ \"x\": {\n    \"y\": 1\n} }", []any{"x"}, "{ \"x\": {\n    \"y\": 1|,\n    \"k\": {\n        \"type\": \"run\",\n        \"args\": [\n            \"a\",\n            \"b:,c\"\n        ]\n    }|\n} }"},
		{"an empty object on two lines", "{\n  \"x\": {\n  }\n}", []any{"x"}, "{\n  \"x\": {\n|    \"k\": {\n      \"type\": \"run\",\n      \"args\": [\n        \"a\",\n        \"b:,c\"\n      ]\n    }\n|  }\n}"},
		{"a comment after the last member", "{\n  \"x\": 1 // one\n}", nil, "{\n  \"x\": 1|,| // one|\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|\n}"},
		{"a comment of two lines after it", "{\n  \"x\": 1 /* one\n  two */\n}", nil, "{\n  \"x\": 1|,| /* one\n  two */|\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|\n}"},
		{"a comment on the next line", "{\n  \"x\": 1\n  // the end\n}", nil, "{\n  \"x\": 1|,\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|\n  // the end\n}"},
		{"a trailing comma", "{\n  \"x\": 1,\n}", nil, "{\n  \"x\": 1,|\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  },|\n}"},
		{"a byte order mark", "\ufeff{\n  \"x\": 1\n}", nil, "\ufeff{\n  \"x\": 1|,\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|\n}"},
		{"no newline at the end", "{\n  \"x\": 1}", nil, "{\n  \"x\": 1|,\n  \"k\": {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|}"},
		{"an element per line", "{\n  \"x\": [\n    {\"type\": \"a\"},\n    {\"type\": \"b\"}\n  ]\n}", []any{"x"}, "{\n  \"x\": [\n    {\"type\": \"a\"},\n    {\"type\": \"b\"}|,\n    {\n      \"type\": \"run\",\n      \"args\": [\n        \"a\",\n        \"b:,c\"\n      ]\n    }|\n  ]\n}"},
		{"elements that share a line's brackets", "{\n  \"x\": [{\n    \"type\": \"a\"\n  }]\n}", []any{"x"}, "{\n  \"x\": [{\n    \"type\": \"a\"\n  }|, {\n    \"type\": \"run\",\n    \"args\": [\n      \"a\",\n      \"b:,c\"\n    ]\n  }|]\n}"},
		{"an empty list in a long file", "{\n  \"x\": []\n}", []any{"x"}, "{\n  \"x\": [|\n    {\n      \"type\": \"run\",\n      \"args\": [\n        \"a\",\n        \"b:,c\"\n      ]\n    }\n  |]\n}"},
		{"an empty list in a short one", `{"x":[]}`, []any{"x"}, `{"x":[|{"type":"run","args":["a","b:,c"]}|]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustParseDoc(t, c.before)
			var err error
			if v := doc.get(c.path...); v.kind == kindArray {
				err = doc.append(value, c.path...)
			} else {
				err = doc.set(value, "k", c.path...)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(doc.src), strings.ReplaceAll(c.after, "|", ""); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			kept := ""
			for i, piece := range strings.Split(c.after, "|") {
				if i%2 == 0 {
					kept += piece
				}
			}
			if kept != c.before {
				t.Errorf("the example changes the document:\n%q\n%q", kept, c.before)
			}
		})
	}
}

func TestLayoutOfReplacedValues(t *testing.T) {
	for _, c := range []struct {
		name, before string
		value        any
		path         []any
		after        string
	}{
		{"a number", "{\"x\": 1, \"y\": 2}", 3, []any{"x"}, "{\"x\": 3, \"y\": 2}"},
		{"characters that HTML escapes", `{"x":1}`, "a<b>&c", []any{"x"}, `{"x":"a<b>&c"}`},
		{"a text with quotes and commas", `{"x": 1}`, `say "a, b: c" \`, []any{"x"}, `{"x": "say \"a, b: c\" \\"}`},
		{"a text that ends in a backslash, in a list", `{"x": 1}`, []string{`a\`, "b"}, []any{"x"}, `{"x": ["a\\", "b"]}`},
		{"a list on one line", "{\n  \"x\": [1, 2]\n}", []int{3, 4, 5}, []any{"x"}, "{\n  \"x\": [3, 4, 5]\n}"},
		{"a list on several lines", "{\n  \"x\": [\n    1\n  ]\n}", []int{3, 4}, []any{"x"}, "{\n  \"x\": [\n    3,\n    4\n  ]\n}"},
		{"an empty list on several lines", "{\n  \"x\": [\n    1\n  ]\n}", []int{}, []any{"x"}, "{\n  \"x\": []\n}"},
		{"an element", "[1, [2, 3], 4]", "x", []any{1, 1}, `[1, [2, "x"], 4]`},
		{"the root", "// c\n{\"x\": 1} // d", []int{1}, nil, "// c\n[1] // d"},
		{"the comments around stay", `{"x": /* a */ 1 /* b */, "y": 2}`, true, []any{"x"}, `{"x": /* a */ true /* b */, "y": 2}`},
		{"comments within go with the value", "{\"x\": [1 /* a */], \"y\": 2}", nil, []any{"x"}, `{"x": null, "y": 2}`},
		{"the last of two with one name", `{"x": 1, "x": 2}`, 3, []any{"x"}, `{"x": 1, "x": 3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustParseDoc(t, c.before)
			if err := doc.setItem(c.value, c.path...); err != nil {
				t.Fatal(err)
			}
			if got := string(doc.src); got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, key := range []string{"", "a b", `a"b`, `a\b`, "a\nb", "é", "日本", "<a>&", "\u2028", "a/b", "a.b", "0"} {
		doc := mustParseDoc(t, `{"x": 1}`)
		if err := doc.set("v", key); err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		if got, ok := doc.text(key); !ok || got != "v" {
			t.Errorf("%q: got %q, %v in %s", key, got, ok, doc.src)
		}
		if err := doc.set("w", key); err != nil {
			t.Fatal(err)
		}
		if got, _ := doc.text(key); got != "w" || strings.Count(string(doc.src), ": ") != 2 {
			t.Errorf("%q set twice: %s", key, doc.src)
		}
		if err := doc.delete(key); err != nil || string(doc.src) != `{"x": 1}` {
			t.Errorf("%q deleted: %s, %v", key, doc.src, err)
		}
	}
}

func TestKeysWithEscapes(t *testing.T) {
	doc := mustParseDoc(t, `{"h\u006foks": {"a\/b": 1}, "\ud83d\ude42": 2}`)
	if string(doc.raw("hooks", "a/b")) != "1" || string(doc.raw("🙂")) != "2" {
		t.Errorf("got %s, %s", doc.raw("hooks", "a/b"), doc.raw("🙂"))
	}
	if err := doc.set(3, "a/b", "hooks"); err != nil || string(doc.src) != `{"h\u006foks": {"a\/b": 3}, "\ud83d\ude42": 2}` {
		t.Errorf("%s, %v", doc.src, err)
	}
}

func TestHides(t *testing.T) {
	doc := mustParseDoc(t, `{"a": {"b": 1, "b": 2, "c": 3}, "a": {"c": 4}, "l": [1, 1]}`)
	for _, c := range []struct {
		path []any
		want bool
	}{
		{[]any{"a"}, true}, {[]any{"a", "b"}, false}, {[]any{"a", "c"}, false}, {[]any{"l"}, false}, {[]any{"l", 0}, false}, {[]any{"x"}, false}, {[]any{"x", "y"}, false}, {nil, false},
	} {
		if got := doc.hides(c.path...); got != c.want {
			t.Errorf("%v: %v", c.path, got)
		}
	}
	if err := doc.delete("a"); err != nil || !doc.hides("a", "b") {
		t.Errorf("what was hidden counts now: %s, %v", doc.src, err)
	}
}

func TestDeleteInUnusualLayouts(t *testing.T) {
	for _, c := range []struct {
		name, before string
		path         []any
		after        string
	}{
		{"the only member on a separate line", "{\n  \"a\": 1\n}", []any{"a"}, "{}"},
		{"the only one with a trailing comma", "{\n  \"a\": 1,\n}", []any{"a"}, "{}"},
		{"the only one beside a comment", "{\n  // c\n  \"a\": 1\n}", []any{"a"}, "{\n  // c\n}"},
		{"the last before a trailing comma", "[\n  1,\n  2,\n]", []any{1}, "[\n  1,\n]"},
		{"the first of several lines", "[\n  1,\n  2\n]", []any{0}, "[\n  2\n]"},
		{"a value over lines", "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}", []any{"a"}, "{\n  \"b\": 2\n}"},
		{"the last value over lines", "{\n  \"b\": 2,\n  \"a\": {\n    \"x\": 1\n  }\n}", []any{"a"}, "{\n  \"b\": 2\n}"},
		{"Windows line ends", "[\r\n  1,\r\n  2,\r\n  3\r\n]", []any{1}, "[\r\n  1,\r\n  3\r\n]"},
		{"a comma in front: its line stays, blank", "{\n    \"a\": 1\n  , \"b\": 2\n}", []any{"b"}, "{\n    \"a\": 1\n  \n}"},
		{"without blanks", `{"a":1,"b":2,"c":3}`, []any{"b"}, `{"a":1,"c":3}`},
		{"the last without blanks", `{"a":1,"b":2}`, []any{"b"}, `{"a":1}`},
		{"within a list of lists", "[[1, 2], [3]]", []any{0, 0}, "[[2], [3]]"},
		{"a whole inner list", "[[1, 2], [3]]", []any{1}, "[[1, 2]]"},
		{"an empty line stays", "[\n  1,\n\n  2\n]", []any{0}, "[\n\n  2\n]"},
		{"a missing index", "[1]", []any{1}, "[1]"},
		{"a step into a number", "[1]", []any{0, "a"}, "[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustParseDoc(t, c.before)
			if err := doc.delete(c.path...); err != nil {
				t.Fatal(err)
			}
			if got := string(doc.src); got != c.after {
				t.Errorf("got\n%q\nwant\n%q", got, c.after)
			}
		})
	}
}

func documents() *rapid.Generator[string] {
	gap := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t", " /* c */ ", " // c\n", "  "})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth > 3 || kind > 1 {
				return rapid.SampledFrom([]string{"1", "-0.5e3", "true", "null", `""`, `"a // b, ]"`, `"\"\\\u00e9"`}).Draw(t, "plain")
			}
			n := rapid.IntRange(0, 3).Draw(t, "items")
			open, end := "[", "]"
			if kind == 0 {
				open, end = "{", "}"
			}
			var b strings.Builder
			b.WriteString(open + gap.Draw(t, "gap"))
			for i := range n {
				if kind == 0 {
					b.WriteString(fmt.Sprintf("%q", "k"+string(rune('a'+i))) + gap.Draw(t, "gap") + ":" + gap.Draw(t, "gap"))
				}
				b.WriteString(value(depth+1).Draw(t, "value") + gap.Draw(t, "gap"))
				if i < n-1 || rapid.IntRange(0, 4).Draw(t, "trailing") == 0 {
					b.WriteString("," + gap.Draw(t, "gap"))
				}
			}
			b.WriteString(end)
			return b.String()
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(1, 3).Draw(t, "members")
		var b strings.Builder
		b.WriteString(gap.Draw(t, "gap") + "{")
		for i := range n {
			b.WriteString(gap.Draw(t, "gap") + fmt.Sprintf("%q:", "m"+string(rune('a'+i))) + value(1).Draw(t, "value") + gap.Draw(t, "gap"))
			if i < n-1 {
				b.WriteString(",")
			}
		}
		b.WriteString(gap.Draw(t, "gap") + "}" + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
		return b.String()
	})
}

func plainValue(t *rapid.T, doc *settingsDoc) map[string]any {
	var v map[string]any
	if err := json.Unmarshal(doc.plain, &v); err != nil {
		t.Fatalf("%v in %q", err, doc.src)
	}
	return v
}

func asJSON(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEditsChangeTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := documents().Draw(t, "document")
		doc, err := parseDoc([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := plainValue(t, doc)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			key := rapid.SampledFrom([]string{"ma", "mb", "new"}).Draw(t, "key")
			before := string(doc.src)
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				value := rapid.SampledFrom([]any{1.0, "x, y", []any{true}, map[string]any{"a": []any{}}}).Draw(t, "value")
				err = doc.set(value, key)
				want[key] = value
			case 1:
				err = doc.delete(key)
				delete(want, key)
			case 2:
				list, ok := want[key].([]any)
				err = doc.append(map[string]any{"b": "c"}, key)
				if !ok {
					if !errors.Is(err, errKind) || string(doc.src) != before {
						t.Fatalf("appended to another kind of value: %v in %q", err, doc.src)
					}
					err = nil
					break
				}
				want[key] = append(list, map[string]any{"b": "c"})
			}
			if err != nil {
				t.Fatalf("%v in %q", err, before)
			}
			if got := asJSON(t, plainValue(t, doc)); got != asJSON(t, want) {
				t.Fatalf("%q became %q\nwant %s", before, doc.src, asJSON(t, want))
			}
		}
	})
}

func TestAddingKeepsEveryComment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := documents().Draw(t, "document")
		doc, err := parseDoc([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		value, notice := asJSON(t, plainValue(t, doc)), doc.notice()
		if err := doc.set(hook{Type: "x"}, "new"); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		for _, comment := range []string{"/* c */", "// c"} {
			if got, want := strings.Count(string(doc.src), comment), strings.Count(text, comment); got != want {
				t.Fatalf("%d of %d comments in %q", got, want, doc.src)
			}
		}
		if doc.notice() != notice {
			t.Fatalf("%q became %q in %q", notice, doc.notice(), doc.src)
		}
		if err := doc.delete("new"); err != nil {
			t.Fatal(err)
		}
		if got := asJSON(t, plainValue(t, doc)); got != value {
			t.Fatalf("%q became %q", text, doc.src)
		}
	})
}
