package recall_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

var now = time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC)

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		want     recall.Request
	}{
		{"words", "retry policy", recall.Request{Text: "retry policy"}},
		{"blanks", " \t retry \n policy ", recall.Request{Text: "retry policy"}},
		{"a phrase", `"exit code" of make`, recall.Request{Text: `"exit code" of make`, Phrases: []string{"exit code"}}},
		{"an unclosed quote is text", `say "hello`, recall.Request{Text: `say "hello`}},
		{"a quote inside a word is text", `it"s fine"`, recall.Request{Text: `it"s fine"`}},
		{"an empty phrase", `"" x`, recall.Request{Text: `"" x`}},
		{"file", "file:store.go lock", recall.Request{Text: "lock", Files: []string{"store.go"}}},
		{"two files", "file:a.go,b.go", recall.Request{Files: []string{"a.go", "b.go"}}},
		{"file with blanks", `file:"my notes.md" x`, recall.Request{Text: "x", Files: []string{"my notes.md"}}},
		{"kinds", "kind:prompts,Reply x", recall.Request{Text: "x", Kinds: []archive.PassageKind{archive.KindPrompt, archive.KindReply}}},
		{"session", "x session:7f3a12cd/12.3", recall.Request{Text: "x", Session: "7f3a12cd/12.3"}},
		{"project", "project:all x", recall.Request{Text: "x", Project: "all"}},
		{"since", "x since:7d", recall.Request{Text: "x", Since: now.AddDate(0, 0, -7)}},
		{"until a month", "x until:2026-10", recall.Request{Text: "x", Until: day(2026, 11, 1)}},
		{"until a day", "x until:2026-11-02", recall.Request{Text: "x", Until: day(2026, 11, 3)}},
		{"reasoning, failed, branch", "x kind:thinking failed:true branch:topic", recall.Request{Text: "x", Kinds: []archive.PassageKind{archive.KindThinking}, Failed: true, Branch: "topic"}},
		{"since and until", "x since:2026-11-01 until:yesterday", recall.Request{Text: "x", Since: day(2026, 11, 1), Until: day(2026, 11, 20)}},
		{"any case", "KIND:edit Since:2h x", recall.Request{Text: "x", Kinds: []archive.PassageKind{archive.KindEdit}, Since: now.Add(-2 * time.Hour)}},
		{"the last one counts", "since:1d since:2d x", recall.Request{Text: "x", Since: now.AddDate(0, 0, -2)}},
		{"a name is no filter", "std::map file::read kind:", recall.Request{}},
		{"a URL is no filter", "https://example.com/a file:///etc/hosts", recall.Request{Text: "https://example.com/a file:///etc/hosts"}},
		{"an unknown filter is text", "author:me", recall.Request{Text: "author:me"}},
		{"operators are text", "a AND (b OR NOT c) NEAR/2 *", recall.Request{Text: "a AND (b OR NOT c) NEAR/2 *"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := recall.Parse(tt.in, now)
			if strings.Contains(tt.in, "kind: ") || strings.HasSuffix(tt.in, "kind:") {
				wantCode(t, err, archive.CodeInvalid)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Query = tt.in
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Parse(%q)\n got %+v\nwant %+v", tt.in, got, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{"kind:poem x", "since:soon x", "until:2026-13-01", "failed:maybe x", "session:../etc x", "session:", "file: x", "since:99999999999999999999d"} {
		_, err := recall.Parse(in, now)
		wantCode(t, err, archive.CodeInvalid)
		if archive.ErrorHint(err) == "" {
			t.Errorf("Parse(%q): no hint in %v", in, err)
		}
	}
}

func wantCode(t *testing.T, err error, code archive.Code) {
	t.Helper()
	if archive.ErrorCode(err) != code {
		t.Errorf("got error %v, want code %s", err, code)
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	tests := []struct {
		in   string
		now  time.Time
		want time.Time
	}{
		{"90s", now, now.Add(-90 * time.Second)},
		{"30m", now, now.Add(-30 * time.Minute)},
		{"2h", now, now.Add(-2 * time.Hour)},
		{"7d", now, now.AddDate(0, 0, -7)},
		{"3w", now, now.AddDate(0, 0, -21)},
		{"6mo", now, now.AddDate(0, -6, 0)},
		{"100000y", now, time.Unix(0, 0)}, // the range of 64 bits of nanoseconds
		{"0001-01-01", now, time.Unix(0, 0)},
		{"2999-01-01", now, time.Unix(0, math.MaxInt64)},
		{"1y", now, now.AddDate(-1, 0, 0)},
		{"0d", now, now},
		{" 7D ", now, now.AddDate(0, 0, -7)},
		{"today", now, day(2026, 11, 20)},
		{"yesterday", now, day(2026, 11, 19)},
		{"2026-11-01", now, day(2026, 11, 1)},
		{"2026-11", now, day(2026, 11, 1)},
		{"2026-11-01T10:05", now, time.Date(2026, 11, 1, 10, 5, 0, 0, time.UTC)},
		{"2026-11-01t10:05:06z", now, time.Date(2026, 11, 1, 10, 5, 6, 0, time.UTC)},
		{"2026-11-01", now.In(zone), time.Date(2026, 11, 1, 0, 0, 0, 0, zone)},
		{"2026-11-01T10:00:00-03:00", now, time.Date(2026, 11, 1, 13, 0, 0, 0, time.UTC)},
	}
	for _, tt := range tests {
		got, err := recall.ParseTime(tt.in, tt.now)
		if err != nil || !got.Equal(tt.want) {
			t.Errorf("ParseTime(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", "d", "7", "7x", "-7d", "7.5d", "2026-02-30", "20261101", "last"} {
		if got, err := recall.ParseTime(in, now); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", `"`, `a "b c" file:"d e" kind:edit`, "since:7d session:ab/1.2", "kind:", `file:"`, "\xff:\x00", "since:2026-11-01", "日本語 \"検索\"",
		"👍🚀", "a AND NOT b NEAR(c, 2) OR {d e}: ^f*", "'; DROP TABLE passages; --", "^(a|b)+$", "the of and", "last last week 2 days ago ago in March in", strings.Repeat("gatwey 検索 ", 8<<10)} {
		f.Add(s)
	}
	r := newRecall(newStore(said(alpha, 1, 0, "the gateway 検索")))
	f.Fuzz(func(t *testing.T, s string) {
		req, err := recall.Parse(s, now)
		if err != nil {
			if archive.ErrorCode(err) != archive.CodeInvalid {
				t.Fatalf("error %v has another code", err)
			}
			return
		}
		if req.Query != s {
			t.Fatal("the query is not as it was typed")
		}
		if utf8.ValidString(s) && !utf8.ValidString(req.Text) {
			t.Fatalf("text %q is cut inside a character", req.Text)
		}
		for _, p := range req.Phrases {
			if !strings.Contains(req.Text, p) {
				t.Fatalf("phrase %q is not in %q", p, req.Text)
			}
		}
		if req.Session != "" {
			return
		}
		if _, err := r.Search(t.Context(), req); err != nil && archive.ErrorCode(err) != archive.CodeInvalid {
			t.Fatalf("search: %v", err)
		}
	})
}
