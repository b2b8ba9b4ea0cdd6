package usage

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestEncode fills every field, so that it finds a new field of an unsupported type.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Session
		v := reflect.ValueOf(&s).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch f := v.Field(i); f.Kind() { //nolint:exhaustive // other kinds fail below
			case reflect.String:
				f.SetString(rapid.StringMatching(`[a-z0-9é"\\ \n-]{0,8}`).Draw(t, name))
			case reflect.Int, reflect.Int64:
				f.SetInt(rapid.Int64Range(-3, 1<<40).Draw(t, name))
			case reflect.Bool:
				f.SetBool(rapid.Bool().Draw(t, name))
			case reflect.Float64:
				f.SetFloat(math.Round(rapid.Float64Range(0, 30).Draw(t, name)*10_000) / 10_000)
			case reflect.Slice:
				for range rapid.IntRange(0, 3).Draw(t, name) {
					s.History = append(s.History, Point{TS: 1, Tokens: rapid.Int64().Draw(t, "tokens"), Pct: 0.25, Turns: 3})
				}
			default:
				t.Fatalf("%s has a type that this test does not fill", name)
			}
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		var a, b Session
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) || string(got) != string(want)+"\n" {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		var c Session
		if err := c.decode(append(want, '\n')); err != nil || !reflect.DeepEqual(a, c) {
			t.Fatalf("read %+v, %v\nwant %+v", c, err, a)
		}
	})
}

// TestDecode compares with encoding/json.
func TestDecode(t *testing.T) {
	for _, text := range []string{
		`{"sessionId":"s","later":{"a":[1,{"b":null}]},"version":1}`,
		` { "history" : [ { "ts" : 1, "more" : [] } ] , "lastPercentage" : 4e-1 } `,
		`{"history":[]}`, `{"history":null,"counted":false}`, `{}`,
		`{"model":"a\u00e9\n"}`,
		`{"model":3}`, `{"window":"3"}`, `{"window":1.5}`, `{"doubt":1}`, `{"history":{}}`, `{"history":[3]}`,
		`[]`, `3`, ``, `{`, `{"version":1} {"version":2}`, `{"window":99999999999999999999}`,
	} {
		var want, got Session
		fails := json.Unmarshal([]byte(text), &want) != nil
		if err := got.decode([]byte(text)); (err != nil) != fails || !fails && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v, fails %v", text, got, err, want, fails)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","history":[{"ts":1,"tokens":2,"pct":0.5,"turns":3}],"window":200000,"version":1}`))
	f.Add([]byte(`{"history":null,"doubt":true,"x":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again Session
		if s.decode(data) != nil {
			return
		}
		text, err := s.encode()
		if err != nil || again.decode(text) != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%q is read as %+v, written as %s and read as %+v", data, s, text, again)
		}
	})
}

func TestEncodeInvalidUTF8(t *testing.T) {
	s := Session{SessionID: "s", Model: "\xff"}
	if _, err := s.encode(); err == nil {
		t.Error("no error")
	}
}
