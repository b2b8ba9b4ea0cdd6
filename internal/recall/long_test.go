package recall_test

import (
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// pasted is a text in which quotes, asterisks, times and colons are no operators.
const pasted = `Deleting branches fails in repositories with packed refs and worktrees
Branch: main
I tried it yesterday: the command says "deleted three of them", but **they remain** when I list them.`

func TestParseTakesLongTextAsText(t *testing.T) {
	tests := []struct {
		name, in string
		want     recall.Request
	}{
		{"no operators", pasted, recall.Request{Text: pasted}},
		{"filters around it", "project:all " + pasted + "\nkind:reply", recall.Request{Text: pasted, Project: "all", Kinds: []archive.PassageKind{archive.KindReply}}},
		{"a colon at its start and its end", "File: " + pasted + " kind:bug", recall.Request{Text: "File: " + pasted + " kind:bug"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := parsed(t, test.in)
			if got.Text != test.want.Text || got.Project != test.want.Project || !slices.Equal(got.Kinds, test.want.Kinds) {
				t.Errorf("got %+v", got)
			}
			if len(got.Phrases) > 0 || got.When != nil || len(got.Files) > 0 || got.Branch != "" {
				t.Errorf("an operator in %+v", got)
			}
		})
	}
	if _, err := recall.Parse("since:never "+pasted, now); err == nil {
		t.Error("a wrong filter before the text is text")
	}
}

func TestSearchFindsLongTextWithoutItsQuotes(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "the command leaves the list as it is"), said(alpha, 2, 0, "deleting branches: packed refs are the cause"))
	res := mustSearch(t, s, parsed(t, pasted))
	if got, want := handles(res.Hits), "aaaaaaaa/2.0 aaaaaaaa/1.0"; got != want || res.Relaxed != "" || res.OnlyRelated() {
		t.Errorf("got %s, want %s, relaxed %q", got, want, res.Relaxed)
	}
}

func TestSubjectOfLongTextCountsMore(t *testing.T) {
	const text = "The queue drops a request when its connection was closed early. " +
		"Please have a look: the retry budget, the pool of workers and the scheduler are affected as well, says the report."
	tests := []struct{ name, text string }{
		{"a sentence", text},
		{"a line", "The queue drops a request when its connection was closed early\n" + text[len("The queue drops a request when its connection was closed early. "):]},
	}
	for _, test := range tests {
		s := newStore(said(alpha, 1, 0, "the pool of workers in detail"), said(alpha, 2, 0, "the queue drops requests in detail"))
		if got, want := handles(mustSearch(t, s, parsed(t, test.text)).Hits), "aaaaaaaa/2.0 aaaaaaaa/1.0"; got != want {
			t.Errorf("%s: got %s, want %s", test.name, got, want)
		}
	}
}
