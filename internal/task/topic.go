package task

import (
	"iter"
	"math"
	"slices"
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
	words  []weighted // by number
	files  map[string]bool
	start  time.Time
	prompt bool   // the first step of a turn
	title  string // of the turn
	size   int    // words of the prompt
}

// weighted is a word, by its number in the session, and its weight.
type weighted struct {
	word   int
	weight float64
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
	steps, vocabulary := h.stepWords(from, to)
	frequency := newWordFrequency(vocabulary)
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
		if k-last < size || len(steps)-k < rest {
			continue
		}
		if b.Score = score(steps, last, k); b.Score >= least {
			out = append(out, b)
			last = k
		}
	}
	return out
}

// stepWords reads the content of the steps [from, to). vocabulary is the number of
// different words.
func (h *History) stepWords(from, to int) (steps []stepWords, vocabulary int) {
	steps = make([]stepWords, max(to-from, 0))
	for i := range steps {
		steps[i] = stepWords{files: map[string]bool{}, start: h.Steps[from+i].Time}
	}
	numbers := map[string]int{}
	count := func(s *stepWords, text string, weight float64) (n int) {
		for w := range contentWords(text) {
			number, ok := numbers[w]
			if !ok {
				number = len(numbers)
				numbers[w] = number
			}
			s.words = append(s.words, weighted{number, weight})
			n++
		}
		return n
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
			s.size += count(s, x.Text, 2)
		case archive.KindReply:
			count(s, x.Text, 1)
		case archive.KindCommand:
			head, _, _ := strings.Cut(x.Text, "\n")
			count(s, head, 0.5)
		}
	}
	for _, c := range h.Calls {
		if s := get(c.Turn, c.Step); s != nil {
			for _, name := range c.Files {
				s.files[name] = true
				count(s, fileName(name), 1)
			}
		}
	}
	for i := range steps {
		steps[i].words = sumWeights(steps[i].words)
	}
	return steps, len(numbers)
}

// sumWeights sorts words and adds up the weights of equal ones.
func sumWeights(words []weighted) []weighted {
	slices.SortFunc(words, func(a, b weighted) int { return a.word - b.word })
	sums := words[:0]
	for _, w := range words {
		if n := len(sums); n > 0 && sums[n-1].word == w.word {
			sums[n-1].weight += w.weight
		} else {
			sums = append(sums, w)
		}
	}
	return sums
}

// countWords adds the words of a text.
func countWords(words map[string]float64, text string) {
	for w := range contentWords(text) {
		words[w]++
	}
}

// contentWords yields the words of a text that name its subject.
func contentWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsSeq(terms.Index(text)) {
			if len(w) > 2 && !terms.Stop(w) && !yield(w) {
				return
			}
		}
	}
}

// wordFrequency counts the steps that contain a word, and holds the buffers to compare
// the words of two groups of steps.
type wordFrequency struct {
	steps         int
	in            []int // by a word's number
	before, after wordVector
}

func newWordFrequency(vocabulary int) *wordFrequency {
	return &wordFrequency{
		in:     make([]int, vocabulary),
		before: wordVector{sum: make([]float64, vocabulary)}, after: wordVector{sum: make([]float64, vocabulary)},
	}
}

// wordVector holds the weights of words, by number; words lists those that are not 0.
type wordVector struct {
	sum   []float64
	words []int
}

// set makes the vector that of some steps.
func (v *wordVector) set(steps []stepWords) {
	for _, w := range v.words {
		v.sum[w] = 0
	}
	v.words = v.words[:0]
	for _, s := range steps {
		for _, w := range s.words {
			if v.sum[w.word] == 0 {
				v.words = append(v.words, w.word)
			}
			v.sum[w.word] += w.weight
		}
	}
}

func (f *wordFrequency) add(s stepWords) {
	f.steps++
	for _, w := range s.words {
		f.in[w.word]++
	}
}

// likeness returns the cosine of the words of two groups of steps, weighted by their
// rarity.
func (f *wordFrequency) likeness(before, after []stepWords) float64 {
	f.before.set(before)
	f.after.set(after)
	weigh := func(v *wordVector) (norm float64) {
		for _, w := range v.words {
			rarity := math.Log(1 + float64(f.steps)/float64(1+f.in[w]))
			v.sum[w] = (1 + math.Log(v.sum[w]+0.5)) * rarity
			norm += v.sum[w] * v.sum[w]
		}
		return norm
	}
	product := weigh(&f.before) * weigh(&f.after)
	if product == 0 {
		return 0
	}
	var dot float64
	for _, w := range f.before.words {
		dot += f.before.sum[w] * f.after.sum[w]
	}
	return dot / math.Sqrt(product)
}

// filesOf returns the files of steps.
func filesOf(steps []stepWords) map[string]bool {
	files := map[string]bool{}
	for _, s := range steps {
		for name := range s.files {
			files[name] = true
		}
	}
	return files
}

// promptScore scores a topic start at the prompt of step k, from the difference between
// the steps before and after it and from the prompt itself.
func (f *wordFrequency) promptScore(steps []stepWords, last, k int) float64 {
	s := steps[k]
	if s.continues() {
		return 0
	}
	before, after := steps[max(last, k-topicWindow):k], steps[k:min(k+topicWindow, len(steps))]
	score := 1 - f.likeness(before, after) + sizeWeight*math.Log1p(float64(min(s.size, sizeLimit)))
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
	before, after := steps[max(last, k-innerWindow):k], steps[k:min(k+innerWindow, len(steps))]
	return 0.7*(1-f.likeness(before, after)) + 0.3*newShare(filesOf(before), filesOf(after))
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
