package text_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/text"
)

// tell walks through a value of a known form and says what was understood.
func tell(data []byte) string {
	w := text.New(data)
	var b strings.Builder
	w.Object(func(name string) {
		switch name {
		case "text":
			fmt.Fprintf(&b, "text %q;", w.Text())
		case "number":
			fmt.Fprintf(&b, "number %d;", w.Number())
		case "truth":
			fmt.Fprintf(&b, "truth %t;", w.Truth())
		case "list":
			w.List(func() { fmt.Fprintf(&b, "item %q;", w.Text()) })
		case "value":
			at := w.Value()
			fmt.Fprintf(&b, "value %s;", at.Of(data))
		case "raw":
			fmt.Fprintf(&b, "raw %s;", w.Raw())
		default:
			w.Skip()
		}
	})
	if w.End() != nil {
		b.WriteString("error")
	}
	return b.String()
}

func TestWalker(t *testing.T) {
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
		if got := tell([]byte(data)); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestKindsAreLookedAtAhead(t *testing.T) {
	w := text.New([]byte(`["a",[]]`))
	if !w.IsList() || w.IsText() {
		t.Error("a list is not seen")
	}
	var kinds []bool
	w.List(func() {
		kinds = append(kinds, w.IsText(), w.IsList())
		w.Skip()
	})
	if fmt.Sprint(kinds) != "[true false false true]" {
		t.Errorf("kinds %v", kinds)
	}
	if w.At() != 8 || w.Err() != nil {
		t.Errorf("at %d, %v", w.At(), w.Err())
	}
}

func FuzzWalker(f *testing.F) {
	f.Add([]byte(`{"text":"a","list":["b",1],"value":{"x":[1,2]},"number":3,"truth":true,"raw":null}`))
	f.Add([]byte(`{"value":[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := tell(data)
		if json.Valid(data) && strings.HasSuffix(got, "error") {
			t.Fatalf("%q is JSON and an error", data)
		}
	})
}
