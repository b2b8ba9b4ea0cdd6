package sessionlog

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

// TestDecodeHeader sets every field of a header, so that a field that is not decoded is
// found.
func TestDecodeHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Header
		fill(t, reflect.ValueOf(&h).Elem())
		js, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var want Header
		if err := json.Unmarshal(js, &want); err != nil {
			t.Fatal(err)
		}
		if got := decodeHeader(js); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is read as\n%+v, want\n%+v", js, got, want)
		}
	})
}

func fill(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); f.Kind() { //nolint:exhaustive // the others fail below
		case reflect.String:
			f.SetString(rapid.StringMatching(`[a-z0-9é"\\ \n<-]{0,8}`).Draw(t, name))
		case reflect.Int:
			f.SetInt(rapid.Int64Range(0, 9).Draw(t, name))
		case reflect.Struct:
			if f.Type() == reflect.TypeFor[time.Time]() {
				f.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<31).Draw(t, name), 123).UTC()))
				continue
			}
			fill(t, f)
		default:
			t.Fatalf("%s is of a kind that this test does not fill", name)
		}
	}
}

func TestDecodeLaterHeaders(t *testing.T) {
	for js, want := range map[string]Header{
		`{"format":1,"client":"claude","later":{"a":[1]},"kind":"transcript"}`: {Format: 1, Client: "claude", Kind: KindTranscript},
		`{"format":"one","client":["claude"],"session":"s","created":"now"}`:   {Session: "s"},
		`{"project":"shop","cwd":"/x"}`:                                        {Cwd: "/x"},
		`{"project":{"key":3,"name":"shop"},"cwd":"/x"}`:                       {Cwd: "/x", Project: projectNamed("shop")},
		`{"generation":2`: {Generation: 2},
		`[]`:              {},
		``:                {},
		`{"format":1,`:    {Format: 1},
	} {
		if got := decodeHeader([]byte(js)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v", js, got, want)
		}
	}
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add([]byte(`{"format":1,"project":{"key":"k"},"created":"2026-01-02T03:04:05Z"}`))
	f.Fuzz(func(t *testing.T, js []byte) {
		h := decodeHeader(js)
		text, err := json.Marshal(h)
		if err != nil {
			return // a year that JSON does not hold
		}
		if again := decodeHeader(text); again.Session != h.Session || again.Format != h.Format || again.Project != h.Project {
			t.Errorf("%q is read as %+v, written and read as %+v", js, h, again)
		}
	})
}

func projectNamed(name string) archive.Project { return archive.Project{Name: name} }
