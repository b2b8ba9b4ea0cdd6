package eval

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

const (
	partAll       = "all"
	partSessionsA = "… half A by session"
	partSessionsB = "… half B by session"
	issueLong     = 600 // characters of a long text
	issueShort    = 120 // characters of a title
	issueLeast    = 200 // characters of the shortest text
	issueCommon   = 4   // one of this many sessions with a file makes it say nothing
)

// half returns the half of a set that a session belongs to. What is kept in the ranking has
// to gain on both.
func half(session string) string {
	if sha256.Sum256([]byte(session))[0]%2 == 0 {
		return partSessionsA
	}
	return partSessionsB
}

// issues returns two sets: a task, as the title line of a long prompt and as its first 600
// characters, to the earlier sessions that edited a file that the prompt's turn edited. As
// with an issue that no session has seen, the session itself, those with the same prompt and
// later ones are not searched.
func issues(ctx context.Context, w *world) ([]*set, error) {
	works, err := readWorks(ctx, w)
	if err != nil {
		return nil, err
	}
	sessions, err := w.store.Sessions(ctx, archive.SessionFilter{Agents: true})
	return issueSets(w, works, sessions), err
}

func issueSets(w *world, works []work, sessions []archive.Session) []*set {
	sets := []*set{
		{name: "issues, short", note: "the title of a task to the earlier sessions that edited the same files"},
		{name: "issues, long", note: "the first 600 characters of the same"},
	}
	for _, k := range works {
		gold, same := map[string]bool{}, map[string]bool{k.session: true}
		for _, other := range works {
			if other.task == k.task && k.task != "" {
				same[other.session] = true
			}
		}
		for _, other := range works {
			if !same[other.session] && other.at.Before(k.at) && slices.ContainsFunc(k.files, func(f string) bool { return slices.Contains(other.files, f) }) {
				gold[other.session] = true
			}
		}
		if len(gold) == 0 || k.task == "" {
			continue
		}
		answers := func(h recall.Hit) []string { // nil for those that BM25 alone does not leave out
			if id := mainSession(h.Session); !same[id] {
				return []string{id}
			}
			return nil
		}
		earlier := w.only(archive.Select(sessions, func(s archive.Session) bool { return !same[mainSession(s.ID)] && s.First.Before(k.at) }))
		title, _, _ := strings.Cut(k.task, "\n")
		for i, query := range []string{text.Prefix(title, issueShort), text.Prefix(k.task, issueLong)} {
			q := question{id: k.session, text: query, until: k.at, gold: gold, parts: []string{partAll, half(k.session)}}
			sets[i].groups = append(sets[i].groups, group{world: earlier, questions: []question{q}, answers: answers})
		}
	}
	return sets
}

// mainSession returns the ID of a session without its sub-agent and generation.
func mainSession(id string) string {
	id, _, _ = strings.Cut(id, "~")
	id, _, _ = strings.Cut(id, "@")
	return id
}

// work is a turn: its prompt and the files that it edited.
type work struct {
	session, task string
	at            time.Time
	files         []string
}

// readWorks reads the turns of an archive's main sessions. A file that many sessions edited
// is left out.
func readWorks(ctx context.Context, w *world) (works []work, err error) {
	sessions, err := w.store.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return nil, err
	}
	edited := map[string]map[string]bool{} // sessions by file
	for _, s := range sessions {
		ps, err := w.store.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: s.ID}, Kinds: []archive.PassageKind{archive.KindPrompt, archive.KindEdit}})
		if err != nil {
			return nil, err
		}
		turns := map[int]*work{}
		for _, p := range ps {
			k := turns[p.Turn]
			if k == nil {
				k = &work{session: s.ID, at: p.Time}
				turns[p.Turn] = k
			}
			if p.Kind == archive.KindPrompt && k.task == "" {
				k.task = task(p.Text)
			}
			for _, path := range p.Paths {
				path, inside := strings.CutPrefix(path, s.Project.Root+"/")
				if p.Kind == archive.KindEdit && inside && !slices.Contains(k.files, path) {
					k.files = append(k.files, path)
					if edited[path] == nil {
						edited[path] = map[string]bool{}
					}
					edited[path][s.ID] = true
				}
			}
		}
		for _, turn := range slices.Sorted(maps.Keys(turns)) {
			works = append(works, *turns[turn])
		}
	}
	for i := range works {
		works[i].files = slices.DeleteFunc(works[i].files, func(f string) bool { return len(edited[f])*issueCommon > len(sessions) })
	}
	return works, nil
}

// task returns a prompt from its first line that says what to do, which "/review" and
// "Implement the following plan:" do not. It returns "" for a prompt that is shorter than
// an issue.
func task(prompt string) string {
	if len(prompt) < issueLeast {
		return ""
	}
	for rest := prompt; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		line = strings.Trim(line, "#*>❯ \t")
		if words := len(strings.Fields(line)); words >= 4 && line[0] != '/' && line[0] != '<' && !strings.HasSuffix(line, ":") {
			return strings.TrimSpace(line + "\n" + after)
		}
		rest = after
	}
	return ""
}
