package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Limits of a summary that the model writes.
const (
	minDraft    = 40   // UTF-16 units
	maxDraft    = 6000 // UTF-16 units
	keyFiles    = 3    // files that it has to name
	draftShare  = 0.20 // of the segment's tokens; 10 to 20 percent are requested
	draftTokens = 80   // allowed for any segment
	// minCommon is the least share of a summary's words in its segment; marginCommon is by
	// how much more another segment has to contain to be the likely subject.
	minCommon    = 0.35
	marginCommon = 0.25
)

// Draft is a redacted summary that the model wrote.
type Draft struct {
	Segment string // ID or prefix of an ID
	Text    string
	// NoFiles is the reason for not naming the key files, or "".
	NoFiles string
}

// Save checks a draft and returns the segment to record. It rejects a draft that is too
// short or too long, that names no key files without a reason, or that is about
// something else.
func (h *History) Save(state *State, d Draft, now time.Time) (archive.Segment, error) {
	t, err := h.segmentOf(state, d.Segment)
	if err != nil {
		return archive.Segment{}, err
	}
	body := draftText(strings.TrimSpace(d.Text))
	s := h.describe(t)
	s.By, s.Content, s.KeyFiles = "agent", body, h.Extract(t, now).FilesModified
	if err := checkSize(body, s.OriginalTokens); err != nil {
		return archive.Segment{}, err
	}
	if missing := missingFiles(body, s.KeyFiles); len(missing) > 0 {
		if strings.TrimSpace(d.NoFiles) == "" {
			return archive.Segment{}, rejected("it does not name "+strings.Join(missing, ", "), "name the key files, or say why they do not matter (--no-files WHY)")
		}
		s.Content = body + "\nFiles left out (" + strings.Join(missing, ", ") + "): " + text.Truncate(text.OneLine(d.NoFiles), 200)
	}
	if err := h.checkSubject(t, body); err != nil {
		return archive.Segment{}, err
	}
	s.KeyDecisions = decisions(sentences(body))
	measure(&s, now)
	return s, nil
}

// report is a summary in the JSON form that older tools ask the model for.
type report struct {
	Task         string   `json:"task_id"`
	Name         string   `json:"name"`
	Status       string   `json:"completion_status"`
	Impact       string   `json:"impact"`
	Actions      []string `json:"key_actions"`
	Artifacts    []string `json:"artifacts"`
	Dependencies []string `json:"dependencies"`
	Notes        string   `json:"notes"`
	Finished     string   `json:"finished_at"`
}

// draftText returns the text of a draft, which may be a report.
func draftText(body string) string {
	var r report
	if !strings.HasPrefix(body, "{") || json.Unmarshal([]byte(body), &r) != nil || r.Name == "" {
		return body
	}
	lines := []string{strings.Join(archive.Select([]string{r.Name, r.Status, r.Finished}, func(s string) bool { return s != "" }), " · ")}
	add := func(head, body string) {
		if body != "" {
			lines = append(lines, head+body)
		}
	}
	add("Impact: ", r.Impact)
	for _, action := range r.Actions {
		add("- ", action)
	}
	add("Files: ", strings.Join(r.Artifacts, ", "))
	add("Depends on: ", strings.Join(r.Dependencies, ", "))
	add("Notes: ", r.Notes)
	return strings.Join(lines, "\n")
}

func rejected(why, hint string) error { return archive.Invalid("the summary is rejected: "+why, hint) }

// checkSize rejects a summary that is too short or too long for a segment of so many
// tokens.
func checkSize(body string, segmentTokens int) error {
	if units := text.Units(body); units < minDraft {
		return rejected("it is too short", fmt.Sprintf("write at least %d characters: decisions, file changes, fixed errors, outcomes", minDraft))
	} else if units > maxDraft {
		return rejected(fmt.Sprintf("it has %d characters, the maximum is %d", units, maxDraft), "keep decisions, file changes, fixed errors, outcomes and preferences")
	}
	if most := max(int(draftShare*float64(segmentTokens)), draftTokens); text.Tokens(body) > most {
		return rejected(
			fmt.Sprintf("it has about %d tokens for a segment of %d, the maximum is %d", text.Tokens(body), segmentTokens, most),
			"aim at 80 to 90 percent fewer tokens: leave out verbose output, dead ends and repetition")
	}
	return nil
}

// segmentOf finds the finished segment that a draft is for.
func (h *History) segmentOf(state *State, id string) (Task, error) {
	found := archive.Select(h.Segments(), func(t Task) bool { return id != "" && hasIDPrefix(SegmentID(t.Session, t.ID), id) })
	switch {
	case len(found) > 1:
		return Task{}, ambiguous(id)
	case len(found) == 1 && found[0].Open():
		return Task{}, archive.Invalid("segment "+archive.Clip(id, 60)+" is not finished", "summarise it when its task is done")
	case len(found) == 1:
		return found[0], nil
	}
	_, err := state.Find(id) // segments of other sessions and of imports have no steps here
	if err == nil {
		err = archive.NotFound("segment "+archive.Clip(id, 60)+" is not part of this session", "name its session with --session")
	}
	return Task{}, err
}

// missingFiles returns the names of the first key files that a text does not contain.
func missingFiles(text string, files []string) []string {
	names := archive.Convert(first(files, keyFiles), fileName)
	return archive.Select(names, func(name string) bool { return !strings.Contains(text, name) })
}

// checkSubject rejects a text whose words are not those of its segment.
func (h *History) checkSubject(t Task, text string) error {
	words := map[string]float64{}
	countWords(words, text)
	own := h.commonWords(t, words)
	for _, o := range h.Segments() {
		overlaps := o.ID == t.ID || o.Start < t.End && t.Start < o.End
		if !overlaps && h.commonWords(o, words) > own+marginCommon {
			return rejected("it seems to be about "+SegmentID(o.Session, o.ID)+" ("+archive.Clip(o.Subject, 60)+")", "save it for that segment")
		}
	}
	if own < minCommon {
		return rejected("it does not seem to be about this segment", fmt.Sprintf("only %.0f %% of its words are in the segment; check the id", 100*own))
	}
	return nil
}

// commonWords returns the share of words that a segment contains.
func (h *History) commonWords(t Task, words map[string]float64) float64 {
	if len(words) == 0 {
		return 0
	}
	contained := map[string]float64{}
	countWords(contained, t.Subject)
	for _, x := range h.passagesIn(t.Start, t.End) {
		countWords(contained, x.Text)
	}
	n := 0
	for w := range words {
		if contained[w] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(words))
}
