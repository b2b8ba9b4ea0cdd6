package text_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/text"
)

// describe reads a value of a known form and lists the fields it read.
func describe(data []byte) string {
	w := text.NewJSONReader(data)
	var b strings.Builder
	w.Object(func(name []byte) {
		switch string(name) {
		case "text":
			fmt.Fprintf(&b, "text %q;", w.Text())
		case "number":
			fmt.Fprintf(&b, "number %d;", w.Int())
		case "truth":
			fmt.Fprintf(&b, "truth %t;", w.Bool())
		case "list":
			w.Array(func() { fmt.Fprintf(&b, "item %q;", w.Text()) })
		case "value":
			at := w.Span()
			fmt.Fprintf(&b, "value %s;", at.Of(data))
		case "raw":
			fmt.Fprintf(&b, "raw %s;", w.Value())
		default:
			w.Skip()
		}
	})
	if w.End() != nil {
		b.WriteString("error")
	}
	return b.String()
}

func TestJSONReader(t *testing.T) {
	for data, want := range map[string]string{
		`{}`:                                 ``,
		`{"text":"a\nb","other":{"text":1}}`: `text "a\nb";`,
		`{"text":7,"number":"7","truth":"true","list":{}}`: `text "";number 0;truth false;`,
		`{"number":12.9}`:               `number 12;`,
		`{"number":-3}`:                 `number 0;`,
		`{"number":1e99}`:               `number 2147483647;`,
		`{"truth":true}`:                `truth true;`,
		`{"list":["a",["b"],"c"]}`:      `item "a";item "";item "c";`,
		`{ "value" : [ 1, {"a": 2} ] }`: `value [ 1, {"a": 2} ];`,
		`{"raw":{"a":"\u00e4"}}`:        `raw {"a":"\u00e4"};`,
		`{"text":"one","text":"two"}`:   `text "one";text "two";`,
		"{\"text\":\"\xff\"}":           "text \"\uFFFD\";",
		`[]`:                            ``,
		`"text"`:                        ``,
		`{} {}`:                         `error`,
		`{"text":`:                      `text "";error`,
		`{"text":"a"`:                   `text "a";error`,
		``:                              `error`,
		`nonsense`:                      `error`,
	} {
		if got := describe([]byte(data)); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestJSONReaderKinds(t *testing.T) {
	w := text.NewJSONReader([]byte(`["a",[]]`))
	if !w.IsArray() || w.IsString() {
		t.Error("the array is not recognized")
	}
	var kinds []bool
	w.Array(func() {
		kinds = append(kinds, w.IsString(), w.IsArray())
		w.Skip()
	})
	if fmt.Sprint(kinds) != "[true false false true]" {
		t.Errorf("kinds %v", kinds)
	}
	if err := w.End(); err != nil {
		t.Error(err)
	}
}

func FuzzJSONReader(f *testing.F) {
	f.Add([]byte(`{"text":"a","list":["b",1],"value":{"x":[1,2]},"number":3,"truth":true,"raw":null}`))
	f.Add([]byte(`{"value":[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := describe(data)
		if json.Valid(data) && strings.HasSuffix(got, "error") {
			t.Fatalf("valid JSON %q is reported as an error", data)
		}
	})
}
