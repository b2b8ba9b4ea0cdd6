package archive_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"strandline/internal/archive"
)

const (
	parentID = "7f3a12cd-0000-4000-8000-000000000001"
	agentID  = "a2c37f95b1d0"
)

func TestParseHandle(t *testing.T) {
	tests := map[string]struct {
		in   string
		want archive.Handle
		text string // its canonical form; empty: text itself
	}{
		"a prefix":              {in: "7f3a12cd", want: archive.Handle{Session: "7f3a12cd", Turn: -1, Step: -1}},
		"a whole id":            {in: parentID, want: archive.Handle{Session: parentID, Turn: -1, Step: -1}},
		"one character":         {in: "7", want: archive.Handle{Session: "7", Turn: -1, Step: -1}},
		"a turn":                {in: "7f3a12cd/12", want: archive.Handle{Session: "7f3a12cd", Turn: 12, Step: -1}},
		"the first turn":        {in: "7f3a12cd/0", want: archive.Handle{Session: "7f3a12cd", Turn: 0, Step: -1}},
		"a step":                {in: "7f3a12cd/12.3", want: archive.Handle{Session: "7f3a12cd", Turn: 12, Step: 3}},
		"a whole id with step":  {in: parentID + "/0.0", want: archive.Handle{Session: parentID, Turn: 0, Step: 0}},
		"a sub-agent":           {in: "7f3a12cd~a2c37f95", want: archive.Handle{Session: "7f3a12cd~a2c37f95", Turn: -1, Step: -1}},
		"a sub-agent's step":    {in: "7f3a12cd~a2c37f95/0.1", want: archive.Handle{Session: "7f3a12cd~a2c37f95", Turn: 0, Step: 1}},
		"an older generation":   {in: "7f3a12cd@1/4", want: archive.Handle{Session: "7f3a12cd@1", Turn: 4, Step: -1}},
		"an agent's generation": {in: "7f3a12cd~a2c37f95@2/4.5", want: archive.Handle{Session: "7f3a12cd~a2c37f95@2", Turn: 4, Step: 5}},
		"dots in an id":         {in: "v1.2_x/3.4", want: archive.Handle{Session: "v1.2_x", Turn: 3, Step: 4}},
		"the largest number":    {in: "a/2147483647", want: archive.Handle{Session: "a", Turn: 2147483647, Step: -1}},
		"blanks around":         {in: " 7f3a12cd/1\n", want: archive.Handle{Session: "7f3a12cd", Turn: 1, Step: -1}, text: "7f3a12cd/1"},
		"leading noughts":       {in: "7f3a12cd/007", want: archive.Handle{Session: "7f3a12cd", Turn: 7, Step: -1}, text: "7f3a12cd/7"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := archive.ParseHandle(c.in)
			if err != nil || got != c.want {
				t.Fatalf("got %+v, %v, want %+v", got, err, c.want)
			}
			if c.text == "" {
				c.text = c.in
			}
			if got.String() != c.text {
				t.Errorf("formatted as %q, want %q", got.String(), c.text)
			}
		})
	}
}

func TestParseHandleRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":                     "",
		"blanks":                      "  ",
		"no session":                  "/1",
		"no turn":                     "7f3a12cd/",
		"no step":                     "7f3a12cd/1.",
		"a word for a turn":           "7f3a12cd/last",
		"a signed turn":               "7f3a12cd/+1",
		"a negative turn":             "7f3a12cd/-1",
		"a turn beyond 31 bits":       "7f3a12cd/2147483648",
		"a turn beyond 64 bits":       "7f3a12cd/99999999999999999999",
		"a hexadecimal turn":          "7f3a12cd/0x1",
		"three numbers":               "7f3a12cd/1.2.3",
		"a path":                      "7f3a12cd/1/2",
		"a climbing path":             "../../etc/passwd",
		"a hidden file":               ".bashrc",
		"an absolute path":            "/etc/passwd",
		"a Windows path":              `C:\Users`,
		"a blank inside":              "7f3a 12cd",
		"letters beyond ASCII":        "séance",
		"a wide digit":                "7f3a12cd/１",
		"a nought byte":               "7f3a\x0012cd",
		"a terminal sequence":         "\x1b[2J",
		"invalid UTF-8":               "\xff\xfe",
		"half a sub-agent":            "7f3a12cd~",
		"a sub-agent without session": "~a2c37f95",
		"a sub-agent's sub-agent":     "a~b~c",
		"a generation of nothing":     "@1",
		"no generation":               "7f3a12cd@",
		"generation 0":                "7f3a12cd@0",
		"a word for a generation":     "7f3a12cd@old",
		"two generations":             "7f3a12cd@1@2",
		"a generation in front":       "7f3a12cd@1~a2c37f95",
		"an id of 129 characters":     strings.Repeat("a", 129),
		"a very long one of blank":    strings.Repeat(" ", 1<<16) + "!",
	} {
		t.Run(name, func(t *testing.T) {
			h, err := archive.ParseHandle(in)
			if archive.ErrorCode(err) != archive.CodeInvalid || archive.ErrorHint(err) == "" {
				t.Errorf("got %+v, %v", h, err)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			if h != (archive.Handle{}) {
				t.Errorf("an error and %+v", h)
			}
		})
	}
}

func TestShortID(t *testing.T) {
	for in, want := range map[string]string{
		parentID:                           "7f3a12cd",
		"short":                            "short",
		"12345678":                         "12345678",
		"":                                 "",
		parentID + "@2":                    "7f3a12cd@2",
		parentID + "~" + agentID:           "7f3a12cd~a2c37f95",
		parentID + "~" + agentID + "@3":    "7f3a12cd~a2c37f95@3",
		parentID + "~x":                    "7f3a12cd~x",
		parentID + "@1234567890":           "7f3a12cd@1234567890",
		"agent-" + agentID + "~" + agentID: "agent-a2~a2c37f95",
	} {
		if got := archive.ShortID(in); got != want {
			t.Errorf("ShortID(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRefHandle(t *testing.T) {
	for want, ref := range map[string]archive.Ref{
		"7f3a12cd":              {Session: parentID, Turn: -1, Step: -1},
		"7f3a12cd/12":           {Session: parentID, Turn: 12, Step: -1},
		"7f3a12cd/12.3":         {Session: parentID, Turn: 12, Step: 3},
		"7f3a12cd~a2c37f95/0.1": {Session: parentID + "~" + agentID, Turn: 0, Step: 1},
		"7f3a12cd@1/2":          {Session: parentID + "@1", Turn: 2, Step: -1},
		"7f3a12cd~a2c37f95@2/0": {Session: parentID + "~" + agentID + "@2", Turn: 0, Step: -1},
	} {
		if got := ref.Handle(); got != want {
			t.Errorf("%+v is formatted as %q, want %q", ref, got, want)
		}
		if _, err := archive.ParseHandle(ref.Handle()); err != nil {
			t.Errorf("the handle does not parse: %v", err)
		}
	}
	// A turn of -1 means the session, whatever the step.
	if got := (archive.Handle{Session: "a", Turn: -1, Step: 4}).String(); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestValidID(t *testing.T) {
	for in, want := range map[string]bool{
		parentID:                 true,
		"a":                      true,
		"toolu_01.txt":           true,
		"-dash":                  true,
		"A..B":                   true,
		strings.Repeat("z", 128): true,
		"":                       false,
		strings.Repeat("z", 129): false,
		".":                      false,
		"..":                     false,
		".hidden":                false,
		"a/b":                    false,
		`a\b`:                    false,
		"a:b":                    false,
		"a~b":                    false,
		"a@2":                    false,
		"a b":                    false,
		"a\x00":                  false,
		"a\n":                    false,
		"ä":                      false,
		"\xff":                   false,
	} {
		if got := archive.ValidID(in); got != want {
			t.Errorf("ValidID(%q) = %v", in, got)
		}
	}
}

func TestClip(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		n    int
		want string
	}{
		"shorter":                  {"abc", 4, "abc"},
		"as long":                  {"abc", 3, "abc"},
		"longer":                   {"abcd", 3, "abc…"},
		"nothing left":             {"abc", 0, "…"},
		"a negative limit":         {"abc", -5, "…"},
		"an empty text":            {"", 0, ""},
		"in the middle of a rune":  {"aä", 2, "a…"},
		"after a rune":             {"aäb", 3, "aä…"},
		"four bytes wide":          {"😀😀", 5, "😀…"},
		"before the first rune":    {"😀", 3, "…"},
		"nothing but continuation": {"\x80\x80\x80", 2, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := archive.Clip(c.in, c.n); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRefsOf(t *testing.T) {
	const session = "7f3a12cd-0000-4000-8000-000000000001"
	got := archive.RefsOf(session, []string{"7f3a12cd/3.1", "7f3a12cd", "9b1c44ee/1", "no handle", "7f3a12cd/0"})
	want := []archive.Ref{{Session: session, Turn: 3, Step: 1}, {Session: session, Turn: 0, Step: -1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzParseHandle(f *testing.F) {
	for _, seed := range []string{
		"7f3a12cd", "7f3a12cd/12", "7f3a12cd/12.3", "7f3a12cd~a2c37f95/0.1", "7f3a12cd@2/1", "a~b@1/0.0",
		"", "/", "../x", "a/1.2.3", "a/-1", "a@0", "\xff", "a/99999999999", " a/01 ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		h, err := archive.ParseHandle(in)
		if err != nil {
			if archive.ErrorCode(err) != archive.CodeInvalid || !utf8.ValidString(err.Error()) {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		if strings.ContainsAny(h.Session, "/\\ \x00\x1b") || strings.HasPrefix(h.Session, ".") || h.Turn < -1 || h.Step < -1 || h.Turn < 0 && h.Step >= 0 {
			t.Fatalf("%q is read as %+v", in, h)
		}
		if again, err := archive.ParseHandle(h.String()); err != nil || again != h {
			t.Errorf("%q is formatted as %q and parsed as %+v, %v", in, h, again, err)
		}
		if short := archive.ShortID(h.Session); archive.ShortID(short) != short {
			t.Errorf("the short id of %q is not stable: %q", h.Session, short)
		}
	})
}

func TestOwner(t *testing.T) {
	for id, want := range map[string]string{
		"7f3a12cd-0000": "7f3a12cd-0000", "7f3a12cd-0000~a1b2c3d4": "7f3a12cd-0000", "7f3a12cd-0000@2": "7f3a12cd-0000",
		"7f3a12cd-0000~a1b2c3d4@3": "7f3a12cd-0000", "": "", "~a1": "",
	} {
		if got := archive.Owner(id); got != want {
			t.Errorf("Owner(%q) = %q, want %q", id, got, want)
		}
	}
}
