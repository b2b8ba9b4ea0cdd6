package eval

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/recall"
)

// The bundled set: invented sessions of three projects, one line per entry, and questions with the turns that answer them.
//
//	@ PROJECT TIME   a session begins; its name is the project's with a number
//	> TEXT           a prompt
//	< TEXT           a reply
//	$ COMMAND        a command, with its output in the lines that begin with |
//
//go:embed own/sessions.txt
var ownSessions string

// A question, a tab, and the turns that answer it as SESSION/TURN.
//
//go:embed own/questions.tsv
var ownQuestions string

const partOwn = "all"

func own(ctx context.Context, dir string) (*set, error) {
	talks, names, err := readTalks(ownSessions)
	if err != nil {
		return nil, err
	}
	if _, err := write(filepath.Join(dir, "client"), talks); err != nil {
		return nil, err
	}
	w, err := build(ctx, filepath.Join(dir, "home"), filepath.Join(dir, "client"))
	if err != nil {
		return nil, err
	}
	g := group{world: w, answers: func(h recall.Hit) []string {
		return []string{fmt.Sprintf("%s/%d", names[h.Session], h.Ref.Turn)}
	}}
	for line := range strings.Lines(ownQuestions) {
		text, gold, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			return nil, fmt.Errorf("the bundled questions: %q has no answer", text)
		}
		q := question{id: text, text: text, gold: map[string]bool{}, parts: []string{partOwn}}
		for at := range strings.FieldsSeq(gold) {
			q.gold[at] = true
		}
		g.questions = append(g.questions, q)
	}
	return &set{name: "bundled", note: "invented sessions; a question to the turn that answers it", groups: []group{g}}, nil
}

// readTalks reads sessions in the form described above, and the names by which
// the questions call them.
func readTalks(text string) (talks []talk, names map[string]string, err error) {
	names = map[string]string{}
	count := map[string]int{}
	for l := range strings.Lines(text) {
		mark, rest, _ := strings.Cut(strings.TrimRight(l, "\n"), " ")
		if mark == "@" {
			project, at, _ := strings.Cut(rest, " ")
			start, err := time.Parse(time.RFC3339, at)
			if err != nil {
				return nil, nil, fmt.Errorf("the bundled sessions: %w", err)
			}
			count[project]++
			t := talk{name: fmt.Sprintf("%s%d", project, count[project]), cwd: "/home/dev/" + project, start: start}
			names[t.session()] = t.name
			talks = append(talks, t)
			continue
		}
		if len(talks) == 0 {
			return nil, nil, fmt.Errorf("the bundled sessions begin with %q", l)
		}
		t := &talks[len(talks)-1]
		last := len(t.lines) - 1
		switch {
		case mark == "|" && last >= 0 && t.lines[last].command != "":
			t.lines[last].text += rest + "\n"
		case mark == "$":
			t.lines = append(t.lines, line{command: rest})
		case mark == ">" || mark == "<":
			t.lines = append(t.lines, line{text: rest, reply: mark == "<"})
		default:
			return nil, nil, fmt.Errorf("the bundled sessions: unknown line %q", l)
		}
	}
	return talks, names, nil
}
