package install

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlainKeepsOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + documents().Draw(t, "document")
		doc, err := parseDoc([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		plain := doc.plain
		if !json.Valid(plain) {
			t.Fatalf("%q is not JSON", plain)
		}
		body := strings.TrimPrefix(text, "\ufeff")
		if len(plain) != len(body) || bytes.Count(plain, []byte("\n")) != strings.Count(body, "\n") {
			t.Fatalf("%q became %q", body, plain)
		}
		for i := range plain {
			if plain[i] != body[i] && plain[i] != ' ' {
				t.Fatalf("byte %d of %q became %q", i, body, plain[i])
			}
		}
		again, err := parseDoc(plain)
		if err != nil || again.notice() != "" || !bytes.Equal(again.src, plain) {
			t.Fatalf("%q is not plain yet: %v", plain, err)
		}
		if (doc.notice() == "") != (body == string(plain)) {
			t.Fatalf("%q is noticed as %q", body, doc.notice())
		}
	})
}

func TestGetEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, err := parseDoc([]byte(documents().Draw(t, "document")))
		if err != nil {
			t.Fatal(err)
		}
		var visit func(v *jsonValue, path []any)
		visit = func(v *jsonValue, path []any) {
			if got := doc.get(path...); got != v {
				t.Fatalf("%v leads to %+v, not %+v", path, got, v)
			}
			if raw := doc.raw(path...); !bytes.Equal(raw, doc.src[v.start:v.end]) || len(bytes.TrimSpace(raw)) != len(raw) || len(raw) == 0 {
				t.Fatalf("%v is %q", path, raw)
			}
			if _, ok := doc.text(path...); ok != (v.kind == kindString) {
				t.Fatalf("%v is a text: %v", path, ok)
			}
			for i, item := range v.items {
				step := any(i)
				if v.kind == kindObject {
					step = item.key
				}
				visit(item.value, append(slices.Clip(path), step))
			}
		}
		visit(doc.get(), nil)
	})
}

func TestParseAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{
			"text": rapid.String().Draw(t, "text"), "number": rapid.Float64().Draw(t, "number"),
			"list": rapid.SliceOf(rapid.Int()).Draw(t, "list"), rapid.String().Draw(t, "key"): nil,
		}
		indent := rapid.SampledFrom([]string{"", " ", "\t", "    "}).Draw(t, "indent")
		raw, err := json.MarshalIndent(value, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := parseDoc(raw)
		if err != nil || doc.notice() != "" || doc.bare() {
			t.Fatalf("%s: %v", raw, err)
		}
		if got, ok := doc.text("text"); value["text"] != nil && (!ok || got != value["text"]) {
			t.Fatalf("read %q of %s", got, raw)
		}
	})
}
