package recall

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// TestQuestions asks the questions of testdata/questions in a new session of the project
// of its history. A question with an answer is answered if the injected text contains
// it; for any other prompt, an injection is a false alarm. The questions of the kind
// "near" have no answer, but words of the project or the form of a question about earlier
// work: the gate cannot tell all of them from the others.
func TestQuestions(t *testing.T) {
	dir := t.TempDir()
	now := writeHistory(t, dir)
	idx := archived(t, dir)
	data, err := os.ReadFile("testdata/questions/questions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var answered, positives, alarms, negatives, near, nearAlarms int
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 3 {
			continue
		}
		kind, answer, prompt := fields[0], fields[1], fields[2]
		got, err := ForPrompt(t.Context(), idx, PromptRequest{Session: here, Project: "dir:ferry", Prompt: prompt, Now: now, Units: 9900})
		if err != nil {
			t.Fatal(err)
		}
		all, hits := &negatives, &alarms
		switch {
		case answer != "":
			all, hits = &positives, &answered
		case kind == "near":
			all, hits = &near, &nearAlarms
		}
		*all++
		spoke := got.Text != ""
		if answer != "" && strings.Contains(got.Text, answer) || answer == "" && spoke {
			*hits++
		}
		if spoke != (answer != "") || !strings.Contains(got.Text, answer) {
			t.Logf("%s: %q, want %q: %s", kind, prompt, answer, got.Text)
		}
	}
	t.Logf("answered %d of %d, false alarms %d of %d, near %d of %d", answered, positives, alarms, negatives, nearAlarms, near)
	if answered*10 < positives*9 || alarms*50 > negatives || nearAlarms*3 > near {
		t.Error("want 90 % answered, at most 2 % false alarms, a third of those near the topics")
	}
}

// TestReadQuestion checks which terms of a prompt are looked up; [optional] is the term of
// a decision.
func TestReadQuestion(t *testing.T) {
	for prompt, want := range map[string]string{
		"what ttl did we settle on?":                              "ttl [decided]",
		"what did we decide about nightfall":                      "nightfall [decided]",
		"the cache is slow. why is gzip off for streaming?":       "gzip streaming",
		"so how often are the keys rotated":                       "key rotated",
		"what rate limit do the agents have":                      "rate limit agent",
		"what we need is a retry budget":                          "",
		"when I run the import it stops":                          "",
		"can you explain the retry budget?":                       "",
		"can you remind me of the retry budget?":                  "retry budget",
		"should we add a retry budget?":                           "",
		"does this change the retry budget?":                      "",
		"why did you drop the trigram index?":                     "",
		"is there a ticket for that?":                             "",
		"why did the canary fail?":                                "canary fail",
		"why did it fail on windows?":                             "",
		"why do the tests fail?":                                  "",
		"what should we do next?":                                 "",
		"commit please":                                           "",
		"":                                                        "",
		"какой таймаут?":                                          "тайм*",
		"напомни, что там с кешем":                                "кеш*",
		"για τις αποσκευές τι όριο έχουμε;":                       "αποσκ* όρι*",
		"我们选了哪家短信服务商？":                                            "短信 信服 服务 务商 [decided]",
		"領収書の番号はどう採番する？":                                          "領収 収書 番号 採番",
		"환불 기한은 무엇이었나":                                            "환불 기한 한은 이었 었나",
		"환불 계좌 검증은 어떻게 해?":                                        "환불 계좌 검증 증은",
		"لماذا أوقفنا الخريطة؟":                                   "أوقفنا خريطة",
		"why? " + strings.Repeat("word ", maxQuestionWords) + "?": "",
	} {
		q := readQuestion(prompt)
		var got []string
		for i, x := range q.terms {
			s := x.Text
			if x.Prefix {
				s += "*"
			}
			if q.decision && i == len(q.terms)-1 {
				s = "[" + s + "]"
			}
			got = append(got, s)
		}
		if have := strings.Join(got, " "); have != want {
			t.Errorf("%q: %q, want %q", prompt, have, want)
		}
	}
}

func FuzzReadQuestion(f *testing.F) {
	for _, seed := range []string{"what ttl did we settle on?", "напомни про стоп-лист", "支付超时是多少？", "لماذا أوقفنا الخريطة؟", "a?b.c;d", "\xff\xfe what is \x00?", "何", "?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		for _, x := range readQuestion(prompt).terms {
			if x.Text == "" || x.Weight <= 0 {
				t.Errorf("term %+v of %q", x, prompt)
			}
		}
		joined := ""
		for s := range sentences(prompt) {
			joined += s
		}
		if joined != prompt {
			t.Errorf("sentences of %q are %q", prompt, joined)
		}
	})
}

// TestGate checks the gate in a project of 10,000 passages and 100 sessions. Counts are of
// the terms rare, local and common, and a text contains the first of them.
func TestGate(t *testing.T) {
	terms := []archive.Term{{Text: "rare", Weight: 1}, {Text: "local", Weight: 1}, {Text: "common", Weight: 1}}
	for name, c := range map[string]struct {
		counts []archive.TermCount
		text   string
		inside float64
		want   bool
	}{
		"a rare word":                  {[]archive.TermCount{{Passages: 4, Sessions: 2}}, "rare", 0, true},
		"a common word":                {[]archive.TermCount{{Passages: 900, Sessions: 60}}, "rare", 0, false},
		"a word in no passage":         {[]archive.TermCount{{}}, "", 0, false},
		"all but the rare word":        {[]archive.TermCount{{Passages: 4, Sessions: 2}, {Passages: 200, Sessions: 50}, {Passages: 900, Sessions: 60}}, "local common", 0, false},
		"half of two rare words":       {[]archive.TermCount{{Passages: 4, Sessions: 2}, {Passages: 4, Sessions: 2}}, "rare", 0, false},
		"a word of few sessions":       {[]archive.TermCount{{Passages: 300, Sessions: 3}, {Passages: 50, Sessions: 40}}, "rare local", 0, true},
		"common words that meet":       {[]archive.TermCount{{Passages: 90, Sessions: 40}, {Passages: 90, Sessions: 40}, {Passages: 90, Sessions: 40}}, "rare local common", 0, true},
		"most of them":                 {[]archive.TermCount{{Passages: 90, Sessions: 40}, {Passages: 90, Sessions: 40}, {Passages: 90, Sessions: 40}}, "rare common", 0, false},
		"as much of it in the context": {[]archive.TermCount{{Passages: 4, Sessions: 2}}, "rare", 7, false},
	} {
		q := question{terms: terms[:len(c.counts)]}
		g := newRarity(q, archive.Counts{Passages: 10_000, Sessions: 100, Terms: c.counts})
		g.inside = c.inside
		if got := g.accepts(g.match(c.text)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestCorrects(t *testing.T) {
	for prompt, want := range map[string]bool{
		"no, use 8444 for the API":             true,
		"use 8444 instead":                     true,
		"take 8444 instead of 8443":            true,
		"нет, лучше 8444":                      true,
		"8444 вместо 8443":                     true,
		"to resume the other session instead,": false,
		"nothing, thanks":                      false,
		"which port do we use?":                false,
		"no, " + strings.Repeat("word ", 30):   false,
	} {
		if got := corrects(prompt); got != want {
			t.Errorf("%q: %t, want %t", prompt, got, want)
		}
	}
}

// TestLaterChange checks that an old value is marked, and that the new one comes first.
func TestLaterChange(t *testing.T) {
	dir := t.TempDir()
	now := writeHistory(t, dir)
	got, err := ForPrompt(t.Context(), archived(t, dir), PromptRequest{
		Session: here, Project: "dir:ferry", Prompt: "which port does the API listen on?", Now: now, Units: 9900,
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := strings.Index(got.Text, "8622 now"), strings.Index(got.Text, "later changed: 5e55000e/7)")
	if first < 0 || second < first || strings.Count(got.Text, "later changed") != 1 {
		t.Errorf("%s", got.Text)
	}
}

// TestQuestionInContext checks that a question whose answer is in the context stays silent.
func TestQuestionInContext(t *testing.T) {
	dir := t.TempDir()
	now := writeHistory(t, dir)
	idx := archived(t, dir)
	for session, want := range map[string]bool{here: true, "5e550002-0000-4000-8000-000000000000": false} {
		got, err := ForPrompt(t.Context(), idx, PromptRequest{Session: session, Project: "dir:ferry", Prompt: "what ttl did we settle on?", Now: now, Units: 9900})
		if err != nil || (got.Text != "") != want {
			t.Errorf("%s: %q, %v", session, got.Text, err)
		}
	}
}

// writeHistory writes the sessions of testdata/questions/history.txt as transcripts of
// the project "ferry" and returns a time after them.
func writeHistory(t *testing.T, dir string) (now time.Time) {
	t.Helper()
	data, err := os.ReadFile("testdata/questions/history.txt")
	if err != nil {
		t.Fatal(err)
	}
	sessions := strings.Split(string(data), "\n= ")[1:]
	for i, s := range sessions {
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0x5e550000+i)
		head, body, _ := strings.Cut(s, "\n")
		at, err := time.Parse(time.DateOnly, head[:10])
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		n := 0
		row := func(typ string, message map[string]any) {
			n++
			at = at.Add(time.Minute)
			b, err := json.Marshal(map[string]any{
				"type": typ, "uuid": fmt.Sprintf("%s-%d", id, n), "sessionId": id, "cwd": "/w", "timestamp": at.Format(time.RFC3339), "message": message,
			})
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(b, '\n'))
		}
		reply := func(content map[string]any) {
			row("assistant", map[string]any{"id": fmt.Sprintf("msg_%d_%d", i, n), "role": "assistant", "content": []any{content}})
		}
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			if prompt, ok := strings.CutPrefix(line, "> "); ok {
				row("user", map[string]any{"role": "user", "content": prompt})
			} else if command, ok := strings.CutPrefix(line, "$ "); ok {
				reply(map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", i, n), "name": "Bash", "input": map[string]any{"command": command}})
			} else if line != "" {
				reply(map[string]any{"type": "text", "text": line})
			}
		}
		path := filepath.Join(dir, "ferry", id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		now = at.Add(100 * time.Hour)
	}
	return now
}
