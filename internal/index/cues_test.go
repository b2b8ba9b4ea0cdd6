package index_test

import (
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// scoreOf scores a text for words that occur in a tenth of all passages.
func scoreOf(text string, asks archive.AnswerType, words ...string) archive.Evidence {
	var lists []index.List
	for _, w := range words {
		lists = append(lists, word(w, make([]int64, 100)...))
	}
	return index.NewRanker(lists, 1000, asks).Score(&archive.Passage{Kind: archive.KindReply, Text: text})
}

func TestSpeaker(t *testing.T) {
	for text, want := range map[string]float64{
		"Ann: I baked bread":                         1,
		"Ann Lee: I baked bread":                     1,
		"Lee Ann: I baked bread":                     1,
		"Bob: Ann, what did you bake?":               0,
		"Hey Ann: bread":                             1, // two words may be a name
		"As Hey Ann: bread":                          0,
		"ann:bread":                                  0, // a label in code, not speech
		"a: Ann baked bread":                         0, // too short for a name
		"https://ann: bread":                         0,
		"Ann of the house of the bakers says: bread": 0,
		"Ann baked: bread, cake":                     1,
		"Ann":                                        0,
		"Ann:":                                       1,
	} {
		if got := scoreOf(text, 0, "ann", "bread").Speaker; got != want {
			t.Errorf("%q: speaker %v, want %v", text, got, want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for text, want := range map[string]float64{
		"Where is the bread?":                 1,
		"Where is the bread? In the oven.":    0,
		"Where is the bread? [Image #1]":      1,
		"(Where is \"the bread?\")\n":         1,
		"パンはどこ？ bread？":                       1,
		"the bread [is it done?]":             0,
		"bread[0]":                            0,
		"[Where is the bread?]":               0,
		"bread":                               0,
		"*Should I slice the bread?*":         1,
		"Is it bread? [shares a photo of it]": 1,
	} {
		if got := scoreOf(text, 0, "bread").Question; got != want {
			t.Errorf("%q: question %v, want %v", text, got, want)
		}
	}
}

func TestAnswerType(t *testing.T) {
	for _, c := range []struct {
		text string
		asks archive.AnswerType
		want float64
	}{
		{"the bread is from yesterday", archive.AnswerTime, 1},
		{"the bread is from yesterday", 0, 0},
		{"the bread is from yesterday", archive.AnswerNumber, 0},
		{"three loaves of bread", archive.AnswerNumber, 1},
		{"bread, 2026-11-03", archive.AnswerTime, 1},
		{"old bread", archive.AnswerTime | archive.AnswerNumber, 0},
	} {
		if got := scoreOf(c.text, c.asks, "bread").AnswerType; got != c.want {
			t.Errorf("%q, answer type %d: %v, want %v", c.text, c.asks, got, c.want)
		}
	}
}

// A passage after a question is its answer, whatever its words are.
func TestFollow(t *testing.T) {
	hit := func(session, place int64, asks, covered float64) *archive.Hit {
		h := &archive.Hit{ID: id(session, place), Evidence: archive.Evidence{Question: asks, Covered: covered, Words: 1}}
		return h
	}
	question, answer, later := hit(1, 5, 1, 0.8), hit(1, 6, 0, 0.1), hit(1, 7, 0, 0.1)
	statement, reply := hit(1, 9, 0, 0.8), hit(1, 10, 0, 0.1)
	last, first := hit(2, 1023, 1, 0.8), hit(3, 0, 0, 0.1)
	hits := []*archive.Hit{later, reply, answer, first, statement, question, last}
	shape().Follow(hits)
	for _, c := range []struct {
		name    string
		h       *archive.Hit
		answer  float64
		follows int64
	}{
		{"the answer", answer, 0.8, question.ID}, {"the passage after it", later, 0, answer.ID},
		{"after a statement", reply, 0, statement.ID}, {"the question", question, 0, 0},
		{"in another session", first, 0, 0},
	} {
		if e := c.h.Evidence; e.Answer != c.answer || e.Follows != c.follows {
			t.Errorf("%s: answer %v, follows %d; want %v and %d", c.name, e.Answer, e.Follows, c.answer, c.follows)
		}
	}
	if hits[0] != later || hits[6] != last {
		t.Error("the order of the hits changed")
	}
	index.Weigh(hits)
	if answer.Score <= reply.Score || question.Score >= statement.Score {
		t.Errorf("answer %.2f, another reply %.2f; question %.2f, statement %.2f", answer.Score, reply.Score, question.Score, statement.Score)
	}
}
