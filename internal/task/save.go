package task

import (
	"fmt"
	"path"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Limits of a summary that the agent writes.
const (
	leastSummary = 40   // UTF-16 units
	mostSummary  = 6000 // UTF-16 units, whatever the segment took
	keyFiles     = 3    // files that a summary has to name
	// A summary may take a fifth of its segment: eighty to ninety percent fewer
	// tokens are aimed at. One of a small segment may take shortTokens.
	mostShare   = 0.20
	shortTokens = 80
	// At least this part of a summary's words stands in its segment, and no other
	// segment of the session holds so many more of them.
	ownWords  = 0.35
	moreWords = 0.25
)

// Draft is a summary as the agent wrote it, redacted before.
type Draft struct {
	Segment string // id, or the beginning of one
	Text    string
	// NoFiles says why the key files are not named; empty where they are.
	NoFiles string
}

// Save checks a draft and returns the segment to be recorded. A draft that is
// empty, too long, names no key file without saying why, or is about something
// else is refused with the reason; what is there stays as it is.
func (p *History) Save(state *State, d Draft, now time.Time) (archive.Segment, error) {
	t, err := p.segment(state, d.Segment)
	if err != nil {
		return archive.Segment{}, err
	}
	body := strings.TrimSpace(d.Text)
	s := p.describe(t)
	s.By, s.Content, s.KeyFiles = "agent", body, p.Extract(t, now).FilesModified
	if units := text.Units(body); units < leastSummary {
		return archive.Segment{}, refused("it says nothing", fmt.Sprintf("write at least %d characters: decisions, file changes, cures of errors, outcomes", leastSummary))
	} else if units > mostSummary {
		return archive.Segment{}, refused(fmt.Sprintf("it has %d characters, at most %d are taken", units, mostSummary), "keep decisions, file changes, cures of errors, outcomes and preferences")
	}
	if most := max(int(mostShare*float64(s.OriginalTokens)), shortTokens); text.Tokens(body) > most {
		return archive.Segment{}, refused(
			fmt.Sprintf("it takes about %d tokens for a segment of %d, at most %d are taken", text.Tokens(body), s.OriginalTokens, most),
			"aim at 80 to 90 percent fewer tokens: leave out verbose output, dead ends and repetition")
	}
	if missing := unnamed(body, s.KeyFiles); len(missing) > 0 {
		if strings.TrimSpace(d.NoFiles) == "" {
			return archive.Segment{}, refused("it does not name "+strings.Join(missing, ", "), "name the key files, or say why they do not matter (--no-files WHY)")
		}
		s.Content = body + "\nFiles left out (" + strings.Join(missing, ", ") + "): " + text.Truncate(text.OneLine(d.NoFiles), 200)
	}
	if err := p.about(t, body); err != nil {
		return archive.Segment{}, err
	}
	s.KeyDecisions = decisions(sentences(body))
	measure(&s, now)
	return s, nil
}

func refused(why, hint string) error {
	return archive.Invalid("the summary is not taken: "+why, hint)
}

// segment finds the closed stretch that a draft is for.
func (p *History) segment(state *State, id string) (Task, error) {
	var found []Task
	for _, t := range p.Segments() {
		full := SegmentID(t.Session, t.ID)
		if id != "" && (strings.HasPrefix(full, id) || strings.HasPrefix(strings.TrimPrefix(full, "seg-"), id)) {
			found = append(found, t)
		}
	}
	switch {
	case len(found) > 1:
		return Task{}, &archive.Error{Code: archive.CodeAmbiguous, Msg: "more than one segment begins with " + archive.Clip(id, 60), Hint: "give more letters of its id"}
	case len(found) == 1 && found[0].Open():
		return Task{}, archive.Invalid("segment "+archive.Clip(id, 60)+" is still being worked on", "summarise it when its task is done")
	case len(found) == 1:
		return found[0], nil
	}
	_, err := state.Find(id) // a segment of another session, or of an imported file, has no steps here
	if err == nil {
		err = archive.NotFound("segment "+archive.Clip(id, 60)+" is not part of this session", "name its session with --session")
	}
	return Task{}, err
}

// unnamed returns the first key files whose name does not stand in the text.
func unnamed(text string, files []string) (missing []string) {
	for _, f := range first(files, keyFiles) {
		if name := path.Base(strings.ReplaceAll(f, `\`, "/")); !strings.Contains(text, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// about refuses a text whose words are not those of its segment.
func (p *History) about(t Task, text string) error {
	want := map[string]float64{}
	count(want, text, 1)
	own := p.holds(t, want)
	for _, o := range p.Segments() {
		if o.ID == t.ID || o.Start < t.End && t.Start < o.End {
			continue
		}
		if p.holds(o, want) > own+moreWords {
			return refused("it seems to be about "+SegmentID(o.Session, o.ID)+" ("+archive.Clip(o.Subject, 60)+")", "save it for that segment")
		}
	}
	if own < ownWords {
		return refused("it does not seem to be about this segment", fmt.Sprintf("only %.0f %% of its words stand there; is the id right?", 100*own))
	}
	return nil
}

// holds is the part of the words that stand in a stretch.
func (p *History) holds(t Task, want map[string]float64) float64 {
	if len(want) == 0 {
		return 0
	}
	have := map[string]float64{}
	count(have, t.Subject, 1)
	for _, x := range ofSteps(p, p.Passages, passagePlace, t.Start, t.End) {
		count(have, x.Text, 1)
	}
	n := 0
	for w := range want {
		if have[w] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(want))
}
