package task

import (
	"math"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Parameters of the topic segmentation, chosen on the 20 boundaries of set "dev" in
// testdata/boundaries.tsv; docs/tasks.md has the figures.
const (
	topicWindow = 8 // steps that are compared on each side of a boundary
	minTopic    = 3 // steps of a topic

	gapBonus   = 0.10 // after a pause of an hour
	slashBonus = 0.30 // for a client command
	sizeWeight = 0.03 // of the logarithm of a prompt's words
	sizeLimit  = 100
	shortWords = 2    // words of a prompt that can mean "continue"
	topicScore = 0.90 // the least at which a prompt starts a topic

	innerScore  = 0.86 // the same within a turn
	minInner    = 8    // steps of a topic that starts within a turn
	innerWindow = 12
)

// stepWords is the content of a step.
type stepWords struct {
	words  map[string]float64 // with weights
	files  map[string]bool
	start  time.Time
	prompt bool   // the first step of a turn
	title  string // of the turn
	size   int    // words of the prompt
}

// Boundary is a step at which a new topic starts.
type Boundary struct {
	Moment int
	Score  float64
	Prompt bool // at a prompt
}

// Boundaries splits the steps [from, to) into topics and returns the start of each but
// the first. A boundary depends only on a window around it, so it stays when the session
// grows; boundaries can be added among the last steps.
func (h *History) Boundaries(from, to int) []Boundary {
	steps := h.stepWords(from, to)
	frequency := wordFrequency{in: map[string]int{}}
	var out []Boundary
	last, seen := 0, 0
	for k := 1; k < len(steps); k++ {
		for ; seen < min(k+topicWindow, len(steps)); seen++ {
			frequency.add(steps[seen])
		}
		b := Boundary{Moment: from + k, Prompt: steps[k].prompt}
		score, least, size, rest := frequency.innerScore, innerScore, minInner, minTopic
		if b.Prompt {
			score, least, size, rest = frequency.promptScore, topicScore, minTopic, 1
		}
		if b.Score = score(steps, last, k); b.Score >= least && k-last >= size && len(steps)-k >= rest {
			out = append(out, b)
			last = k
		}
	}
	return out
}

// stepWords reads the content of the steps [from, to).
func (h *History) stepWords(from, to int) []stepWords {
	steps := make([]stepWords, max(to-from, 0))
	for i := range steps {
		steps[i] = stepWords{words: map[string]float64{}, files: map[string]bool{}, start: h.Steps[from+i].Time}
	}
	get := func(turn, step int) *stepWords {
		if m := h.Moment(turn, max(step, 0)); m >= from && m < to && h.Steps[m].Turn == turn {
			return &steps[m-from]
		}
		return nil
	}
	for _, t := range h.Turns {
		if s := get(t.Index, 0); s != nil {
			s.prompt, s.title = true, t.Title
		}
	}
	for _, x := range h.Passages {
		s := get(x.Turn, x.Step)
		if s == nil {
			continue
		}
		switch x.Kind {
		case archive.KindPrompt:
			s.size += countWords(s.words, x.Text, 2)
		case archive.KindReply:
			countWords(s.words, x.Text, 1)
		case archive.KindCommand:
			head, _, _ := strings.Cut(x.Text, "\n")
			countWords(s.words, head, 0.5)
		}
	}
	for _, c := range h.Calls {
		if s := get(c.Turn, c.Step); s != nil {
			for _, name := range c.Files {
				s.files[name] = true
				countWords(s.words, fileName(name), 1)
			}
		}
	}
	return steps
}

// countWords adds the words of a text with a weight and returns their number.
func countWords(words map[string]float64, text string, weight float64) (n int) {
	for w := range strings.FieldsSeq(terms.Index(text)) {
		if len(w) > 2 && !terms.Stop(w) {
			words[w] += weight
			n++
		}
	}
	return n
}

// wordFrequency counts the steps that contain a word.
type wordFrequency struct {
	steps int
	in    map[string]int
}

func (f *wordFrequency) add(s stepWords) {
	f.steps++
	for w := range s.words {
		f.in[w]++
	}
}

// merge returns the words of steps, weighted by their rarity, and the files.
func (f *wordFrequency) merge(steps []stepWords) (words map[string]float64, files map[string]bool) {
	words, files = map[string]float64{}, map[string]bool{}
	for _, s := range steps {
		for w, n := range s.words {
			words[w] += n
		}
		for name := range s.files {
			files[name] = true
		}
	}
	for w, n := range words {
		rarity := math.Log(1 + float64(f.steps)/float64(1+f.in[w]))
		words[w] = (1 + math.Log(n+0.5)) * rarity
	}
	return words, files
}

// promptScore scores a topic start at the prompt of step k, from the difference between
// the steps before and after it and from the prompt itself.
func (f *wordFrequency) promptScore(steps []stepWords, last, k int) float64 {
	s := steps[k]
	if s.continues() {
		return 0
	}
	before, _ := f.merge(steps[max(last, k-topicWindow):k])
	after, _ := f.merge(steps[k:min(k+topicWindow, len(steps))])
	score := 1 - cosine(before, after) + sizeWeight*math.Log1p(float64(min(s.size, sizeLimit)))
	if s.start.Sub(steps[k-1].start) > time.Hour {
		score += gapBonus
	}
	if strings.HasPrefix(s.title, "/") {
		score += slashBonus
	}
	return score
}

// continues reports whether a prompt only says to continue.
func (s stepWords) continues() bool {
	if s.size > shortWords {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(s.title), " ")
	switch strings.Trim(first, ",.!?") {
	case "", "yes", "yep", "ok", "okay", "no", "continue", "go", "commit", "push", "thanks", "good", "great", "sure":
		return true
	}
	return false
}

// innerScore scores a topic start at step k within a turn.
func (f *wordFrequency) innerScore(steps []stepWords, last, k int) float64 {
	before, filesBefore := f.merge(steps[max(last, k-innerWindow):k])
	after, filesAfter := f.merge(steps[k:min(k+innerWindow, len(steps))])
	return 0.7*(1-cosine(before, after)) + 0.3*newShare(filesBefore, filesAfter)
}

// newShare returns the share of the files after that are not before, or 0.5 if one side
// has none.
func newShare(before, after map[string]bool) float64 {
	if len(before) == 0 || len(after) == 0 {
		return 0.5
	}
	n := 0
	for name := range after {
		if !before[name] {
			n++
		}
	}
	return float64(n) / float64(len(after))
}

func cosine(a, b map[string]float64) float64 {
	var dot, na, nb float64
	for w, x := range a {
		dot += x * b[w]
		na += x * x
	}
	for _, y := range b {
		nb += y * y
	}
	if na == 0 || nb == 0 {
		return 0
	}
	return dot / math.Sqrt(na*nb)
}
