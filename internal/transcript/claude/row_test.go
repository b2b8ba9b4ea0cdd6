package claude

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

func scanOne(t *testing.T, line string) (*scanner, *row) {
	t.Helper()
	s := newScanner()
	s.scan([]byte(line+"\n"), 7)
	if len(s.rows) != 1 {
		t.Fatalf("%q gives %d rows", line, len(s.rows))
	}
	return s, &s.rows[0]
}

func TestRowTypes(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, c := range []struct{ name, line, want string }{
		{"blank", "", typeBlank},
		{"white space and CR", " \t\r", typeBlank},
		{"comment", "// not JSON", typeMalformed},
		{"cut off", `{"type":"user","message":{"content":"x`, typeMalformed},
		{"list", `[1]`, typeMalformed},
		{"null", `null`, typeMalformed},
		{"trailing text", `{"type":"user"} x`, typeMalformed},
		{"two objects", `{"type":"user"}{"type":"user"}`, typeMalformed},
		{"NULs", "{\"type\":\"user\"\x00\x00}", typeMalformed},
		{"too deep", `{"type":"user","message":` + deep + `}`, typeMalformed},
		{"no type", `{}`, ""},
		{"type that is a number", `{"type":3}`, "3"},
		{"type that is an object", `{"type":{}}`, ""},
		{"unknown type", `{"type":"hologram","x":[{}]}`, "hologram"},
		{"CRLF", "{\"type\":\"user\"}\r", typeUser},
		{"byte order mark", "\xef\xbb\xbf{\"type\":\"user\"}", typeUser},
		{"duplicate names, the last one wins", `{"type":"user","type":"system"}`, typeSystem},
		{"escaped name", `{"\u0074ype":"user"}`, typeUser},
		{"invalid UTF-8", "{\"type\":\"user\",\"cwd\":\"/\xff\"}", typeUser},
	} {
		s, r := scanOne(t, c.line)
		if r.kind != c.want || r.line != 7 {
			t.Errorf("%s: type %q on line %d, want %q on 7", c.name, r.kind, r.line, c.want)
		}
		if r.kind == typeMalformed && (len(s.parts) > 0 || len(r.uuid) > 0) {
			t.Errorf("%s: a malformed row keeps parts of itself", c.name)
		}
	}
}

func TestRowFields(t *testing.T) {
	_, r := scanOne(t, `{"uuid":"u\u0031","parentUuid":null,"promptId":"p","sessionId":"s","agentId":"a","cwd":"/w","gitBranch":"b","version":2,`+
		`"timestamp":"2026-05-04T10:00:01.250Z","isMeta":"true","isSidechain":true,"isCompactSummary":1,"promptSource":"typed",`+
		`"type":"assistant","message":{"id":"m","model":"x","stop_reason":null,"usage":{"input_tokens":5,"cache_creation":{"a":1},"output_tokens":"7"}}}`)
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"uuid", r.uuid, "u1"}, {"parent", r.parent, ""}, {"prompt id", r.promptID, "p"}, {"session", r.sessionID, "s"},
		{"agent", r.agentID, "a"}, {"cwd", r.cwd, "/w"}, {"branch", r.branch, "b"}, {"version", r.version, "2"},
		{"message id", r.messageID, "m"}, {"model", r.model, "x"}, {"stop", r.stopReason, ""},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
	if !r.meta || !r.sidechain || r.summary || !r.provenance || !r.root {
		t.Errorf("flags are wrong: %+v", r)
	}
	if want := (archive.Usage{Input: 5, Output: 7}); r.usage != want {
		t.Errorf("usage %v, want %v", r.usage, want)
	}
	if want := time.Date(2026, 5, 4, 10, 0, 1, 250e6, time.UTC); !r.time.Equal(want) {
		t.Errorf("time %v, want %v", r.time, want)
	}
}

func TestRowParts(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          []partKind
	}{
		{"message is a string", `"hello"`, []partKind{partText}},
		{"message is a list", `[{"type":"text","text":"x"}]`, []partKind{partText}},
		{"message is null", `null`, nil},
		{"message is a number", `4`, nil},
		{"content is a string", `{"content":"hello"}`, []partKind{partText}},
		{"content is one block", `{"content":{"type":"text","text":"x"}}`, []partKind{partText}},
		{"content is null", `{"content":null}`, nil},
		{"every kind", `{"content":[{"type":"text"},{"thinking":"x","type":"thinking"},{"type":"tool_use"},{"type":"tool_result"},{"type":"image","source":{"data":"AA=="}},{"type":"new"},"bare",null,7,[1]]}`,
			[]partKind{partText, partThinking, partToolUse, partToolResult, partImage, partOther, partText}},
	} {
		s, r := scanOne(t, `{"type":"user","message":`+c.message+`}`)
		var got []partKind
		for _, p := range s.partsOf(r) {
			got = append(got, p.kind)
		}
		if !bytes.Equal(kinds(got), kinds(c.want)) {
			t.Errorf("%s: parts %v, want %v", c.name, got, c.want)
		}
	}
}

func kinds(ks []partKind) []byte {
	var b []byte
	for _, k := range ks {
		b = append(b, byte(k))
	}
	return b
}

func TestToolUse(t *testing.T) {
	s, r := scanOne(t, `{"type":"assistant","message":{"content":[{"input":{"command":"ls"},"name":"Bash","id":"t1","type":"tool_use"}]}}`)
	p := s.partsOf(r)[0]
	if string(p.name) != "Bash" || string(p.id) != "t1" || string(p.raw) != `{"command":"ls"}` {
		t.Errorf("tool use %q %q %q", p.name, p.id, p.raw)
	}
}

func TestScanCompleteLines(t *testing.T) {
	s := newScanner()
	s.scan([]byte("{\"type\":\"user\"}\n\n{\"type\":\"us"), 0)
	if len(s.rows) != 2 || s.rows[1].line != 1 {
		t.Errorf("rows %+v", s.rows)
	}
}

func TestTimestamp(t *testing.T) {
	day := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC)
	for raw, want := range map[string]time.Time{
		`"2026-01-31T23:59:59.000Z"`:      day,
		`"2026-01-31T23:59:59Z"`:          day,
		`"2026-02-01T00:59:59.000+01:00"`: day,
		`"2026-01-15T00:00:00.123Z"`:      time.Date(2026, 1, 15, 0, 0, 0, 123e6, time.UTC),
		`1769903999000`:                   day,
		`"2026-02-30T10:00:00.000Z"`:      {},
		`"2026-13-01T10:00:00.000Z"`:      {},
		`"2026-01-01T24:00:00.000Z"`:      {},
		`"2026-01-01T10-00-00.000Z"`:      {},
		`"9999-01-01T10:00:00.000Z"`:      {},
		`"soon"`:                          {},
		`null`:                            {},
		`-5`:                              {},
		`1e300`:                           {},
		``:                                {},
		`"2026-01-1xT10:00:00.000Z"`:      {},
	} {
		if got := timeOf([]byte(raw)); !got.Equal(want) || got.IsZero() != want.IsZero() {
			t.Errorf("timeOf(%s) = %v, want %v", raw, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for raw, want := range map[string]int64{
		`12`: 12, `"12"`: 12, `-3`: -3, `2.9`: 2, `1e3`: 1000, `1e300`: 0, `null`: 0, `{}`: 0, `"x"`: 0, ``: 0, `"NaN"`: 0, `"Inf"`: 0,
	} {
		if got := intOf([]byte(raw)); got != want {
			t.Errorf("intOf(%s) = %d, want %d", raw, got, want)
		}
	}
	if got := durationOf([]byte("1.5"), time.Second); got != 1500*time.Millisecond {
		t.Errorf("span of 1.5 s is %v", got)
	}
	if got := durationOf([]byte("1e200"), time.Second) + durationOf([]byte("-4"), time.Second); got != 0 {
		t.Errorf("absurd spans give %v", got)
	}
}
