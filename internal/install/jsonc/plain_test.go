package jsonc_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/install/jsonc"
)

// Plain has the same length, with every value at its offset.
func TestPlainKeepsOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + documents().Draw(t, "document")
		doc, err := jsonc.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		plain := doc.Plain()
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
		again, err := jsonc.Parse(plain)
		if err != nil || again.Notice() != "" || !bytes.Equal(again.Plain(), plain) {
			t.Fatalf("%q is not plain yet: %v", plain, err)
		}
		if (doc.Notice() == "") != (body == string(plain)) {
			t.Fatalf("%q is noticed as %q", body, doc.Notice())
		}
	})
}

// Every value is found by its path.
func TestGetEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, err := jsonc.Parse([]byte(documents().Draw(t, "document")))
		if err != nil {
			t.Fatal(err)
		}
		var visit func(v *jsonc.Value, path []any)
		visit = func(v *jsonc.Value, path []any) {
			if got := doc.Get(path...); got != v {
				t.Fatalf("%v leads to %+v, not %+v", path, got, v)
			}
			if raw := doc.Raw(path...); !bytes.Equal(raw, doc.Bytes()[v.Start:v.End]) || len(bytes.TrimSpace(raw)) != len(raw) || len(raw) == 0 {
				t.Fatalf("%v is %q", path, raw)
			}
			if _, ok := doc.Text(path...); ok != (v.Kind == jsonc.String) {
				t.Fatalf("%v is a text: %v", path, ok)
			}
			for i, item := range v.Items {
				step := any(i)
				if v.Kind == jsonc.Object {
					step = item.Key
				}
				visit(item.Value, append(slices.Clip(path), step))
			}
		}
		visit(doc.Get(), nil)
	})
}

// JSON with any indentation is valid.
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
		doc, err := jsonc.Parse(raw)
		if err != nil || doc.Notice() != "" || doc.Bare() {
			t.Fatalf("%s: %v", raw, err)
		}
		if got, ok := doc.Text("text"); value["text"] != nil && (!ok || got != value["text"]) {
			t.Fatalf("read %q of %s", got, raw)
		}
	})
}
