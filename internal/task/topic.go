package task

import (
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// The constants of the segmenter, chosen on the 20 boundaries of set "dev" in
// testdata/boundaries.tsv; docs/tasks.md has the figures.
const (
	topicWindow = 8 // steps that are compared on each side of a possible boundary
	topicLeast  = 3 // steps that a topic has at least

	gapBonus   = 0.10 // after a pause of an hour
	slashBonus = 0.30 // for a command of the client's own
	sizeWeight = 0.03 // for the logarithm of a prompt's words
	sizeLimit  = 100
	shortWords = 2    // words up to which a prompt may only say: go on
	topicScore = 0.90 // from which score on a prompt begins a topic

	innerScore  = 0.86 // the same within a turn, where no prompt speaks for it
	innerLeast  = 8    // steps that a topic within a turn has at least
	innerWindow = 12
)

// frame is what a step says about its topic.
type frame struct {
	words  map[string]float64 // of what was said and done, with a weight
	files  map[string]bool
	start  time.Time
	prompt bool   // the step is the first to answer a prompt
	title  string // of that prompt
	asked  int    // its words
}

// Boundary is a step at which a new topic begins.
type Boundary struct {
	Moment int
	Score  float64
	Prompt bool // it begins with a prompt
}

// Boundaries cuts the steps [from, to) into topics and returns where each but the
// first begins. A boundary depends on a window around it alone, and so stays
// where it is as the session grows; the steps nearest to the end may still get one.
func (p *History) Boundaries(from, to int) []Boundary {
	frames := p.frames(from, to)
	rarity := newRarity()
	var out []Boundary
	last, seen := 0, 0
	for k := 1; k < len(frames); k++ {
		for ; seen < min(k+topicWindow, len(frames)); seen++ {
			rarity.add(frames[seen])
		}
		b := Boundary{Moment: from + k, Prompt: frames[k].prompt}
		if b.Prompt {
			b.Score = rarity.promptScore(frames, last, k)
			if b.Score < topicScore || k-last < topicLeast {
				continue
			}
		} else {
			b.Score = rarity.innerScore(frames, last, k)
			if b.Score < innerScore || k-last < innerLeast || len(frames)-k < topicLeast {
				continue
			}
		}
		out = append(out, b)
		last = k
	}
	return out
}

// frames reads what the steps [from, to) say.
func (p *History) frames(from, to int) []frame {
	frames := make([]frame, max(to-from, 0))
	for i := range frames {
		frames[i] = frame{words: map[string]float64{}, files: map[string]bool{}, start: p.Steps[from+i].Time}
	}
	for _, t := range p.Turns {
		if m := p.Moment(t.Index, 0); m >= from && m < to && p.Steps[m].Turn == t.Index {
			frames[m-from].prompt, frames[m-from].title = true, t.Title
		}
	}
	in := func(turn, step int) *frame {
		if m := p.Moment(turn, max(step, 0)); m >= from && m < to && p.Steps[m].Turn == turn {
			return &frames[m-from]
		}
		return nil
	}
	for _, x := range p.Passages {
		f := in(x.Turn, x.Step)
		if f == nil || x.Kind == archive.KindSummary {
			continue
		}
		switch x.Kind {
		case archive.KindPrompt:
			f.asked += count(f.words, x.Text, 2)
		case archive.KindReply:
			count(f.words, x.Text, 1)
		case archive.KindCommand:
			head, _, _ := strings.Cut(x.Text, "\n")
			count(f.words, head, 0.5)
		}
	}
	for _, c := range p.Calls {
		f := in(c.Turn, c.Step)
		if f == nil {
			continue
		}
		for _, name := range c.Files {
			f.files[name] = true
			count(f.words, path.Base(strings.ReplaceAll(name, `\`, "/")), 1)
		}
	}
	return frames
}

// count adds the words of a text and returns how many there were.
func count(words map[string]float64, text string, weight float64) (n int) {
	for w := range strings.FieldsSeq(terms.Index(text)) {
		if len(w) > 2 && !terms.Stop(w) {
			words[w] += weight
			n++
		}
	}
	return n
}

// rarity knows in how many of the steps seen so far a word occurs.
type rarity struct {
	steps int
	in    map[string]int
}

func newRarity() *rarity { return &rarity{in: map[string]int{}} }

func (r *rarity) add(f frame) {
	r.steps++
	for w := range f.words {
		r.in[w]++
	}
}

func (r *rarity) of(w string) float64 { return math.Log(1 + float64(r.steps)/float64(1+r.in[w])) }

// block sums the words and files of frames.
func (r *rarity) block(frames []frame) (words map[string]float64, files map[string]bool) {
	words, files = map[string]float64{}, map[string]bool{}
	for _, f := range frames {
		for w, n := range f.words {
			words[w] += n
		}
		for name := range f.files {
			files[name] = true
		}
	}
	for w, n := range words {
		words[w] = (1 + math.Log(n+0.5)) * r.of(w)
	}
	return words, files
}

// promptScore is how much speaks for a new topic at a prompt: how little what
// follows has in common with what was before, and the prompt itself.
func (r *rarity) promptScore(frames []frame, last, k int) float64 {
	f := frames[k]
	if f.goesOn() {
		return 0
	}
	before, _ := r.block(frames[max(last, k-topicWindow):k])
	after, _ := r.block(frames[k:min(k+topicWindow, len(frames))])
	score := 1 - cosine(before, after) + sizeWeight*math.Log1p(float64(min(f.asked, sizeLimit)))
	if f.start.Sub(frames[k-1].start) > time.Hour {
		score += gapBonus
	}
	if strings.HasPrefix(f.title, "/") {
		score += slashBonus
	}
	return score
}

// goesOn reports whether a prompt only tells to go on.
func (f frame) goesOn() bool {
	if f.asked > shortWords {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(f.title), " ")
	switch strings.Trim(first, ",.!?") {
	case "", "yes", "yep", "ok", "okay", "no", "continue", "go", "commit", "push", "thanks", "good", "great", "sure":
		return true
	}
	return false
}

// innerScore is how much speaks for a new topic within a turn.
func (r *rarity) innerScore(frames []frame, last, k int) float64 {
	before, had := r.block(frames[max(last, k-innerWindow):k])
	after, has := r.block(frames[k:min(k+innerWindow, len(frames))])
	return 0.7*(1-cosine(before, after)) + 0.3*fresh(had, has)
}

// fresh is the share of files that were not there before; half where no file
// tells.
func fresh(had, has map[string]bool) float64 {
	if len(has) == 0 || len(had) == 0 {
		return 0.5
	}
	n := 0
	for name := range has {
		if !had[name] {
			n++
		}
	}
	return float64(n) / float64(len(has))
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

func (b Boundary) String() string { return fmt.Sprintf("%d (%.2f)", b.Moment, b.Score) }
