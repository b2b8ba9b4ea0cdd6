package text_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"strandline/internal/text"
)

type rowHead struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type row struct {
	rowHead
	Name  string          `json:"name"` // hides that of the head
	Time  any             `json:"time,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	Note  *string         `json:"note,omitempty"`
	Usage *struct {
		Input int64 `json:"input"`
	} `json:"usage,omitempty"`
	List []rowHead          `json:"list,omitempty"`
	By   map[string]rowHead `json:"by,omitempty"`
	Own  int                // without a name
}

// Rows of clients are decoded and encoded as encoding/json does.
func TestCodecAsEncodingJSON(t *testing.T) {
	for _, line := range []string{
		`{}`,
		`{"id":"a","name":"b","time":"2026-09-01T08:00:00Z","raw":{"x":[1,2]},"note":"","usage":{"input":7},"list":[{"id":"c"},{"name":"d"}]}`,
		`{"time":1767225600000,"raw":"text","note":null,"usage":null,"list":[],"unknown":{"id":"x"}}`,
		`{"time":true,"raw":null,"name":"\u00e9\ud83d\ude00\n<&>","by":{"k":{"id":"v"},"":{"id":"w"}}}`,
		`{"id":7,"name":[],"usage":"none","list":{"id":"a"},"by":[],"note":5}`,
		` { "id" : "a" , "list" : [ null , { "id" : "b" } ] } `,
	} {
		var got, want row
		r := text.NewJSONReader([]byte(line))
		_ = r.Decode(&got)
		if err := r.End(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		_ = json.Unmarshal([]byte(line), &want) // values of another type
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
		got.By = nil // maps are not encoded
		if len(got.List) == 0 {
			got.List = nil // left out
		}
		out, err := text.EncodeJSON(&got)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		var again row
		if err := json.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: encoded as %s (%v)", line, out, err)
		}
	}
}

// A row is one line: line breaks between the values of its JSON are left out.
func TestCodecOneLine(t *testing.T) {
	out, err := text.EncodeJSON(&row{Name: "a\nb", Raw: json.RawMessage("{\n \"x\": \"a\\nb\"\r\n}")})
	if err != nil || strings.ContainsAny(string(out), "\r\n") || !strings.Contains(string(out), `"raw":{"x":"a\nb"}`) {
		t.Errorf("%s, %v", out, err)
	}
	if out, err = text.EncodeJSON(&row{Name: "a\xffb"}); err == nil || !json.Valid(out) || !strings.Contains(string(out), "a\ufffdb") {
		t.Errorf("invalid UTF-8: %s, %v", out, err)
	}
}
