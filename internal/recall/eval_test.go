package recall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/index/sqlite"
	"strandline/internal/sessionlog"
)

// TestEvalThreshold evaluates automatic recall on the prompts of real sessions. A
// recalled turn is useful if it touched a file that the prompt's turn touches later, or
// two identifiers of that turn that the prompt does not name. STRANDLINE_EVAL_DATA is a
// folder of transcripts.
func TestEvalThreshold(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("no real transcripts: set STRANDLINE_EVAL_DATA to a folder of them")
	}
	cases := gatherCases(t, archived(t, dir))
	const seed = 7
	fit, rest := halves(cases, seed)
	best := fitThreshold(fit)
	t.Logf("%d prompts in %d sessions; seed %d; fitted on one half: %+v, in use %+v", len(cases), len(sessionsOf(cases)), seed, best, defaultThreshold())
	t.Logf("a random turn outside the context is useful for %.2f of the prompts", baseRate(cases))
	for _, part := range []struct {
		name      string
		cases     []evalCase
		threshold threshold
	}{
		{"fitted half", fit, best}, {"other half", rest, best}, {"all, in use", cases, defaultThreshold()},
	} {
		t.Logf("%-12s %v", part.name, judge(part.cases, part.threshold))
	}
	var pooled figures
	const seeds = 20
	for s := range uint64(seeds) {
		a, b := halves(cases, s)
		pooled.add(judge(b, fitThreshold(a)))
	}
	t.Logf("%-12s %v", "20 seeds", pooled)
	if f := judge(cases, defaultThreshold()); f.prompts > 100 && f.recalled*5 > f.prompts {
		t.Errorf("it recalls at more than a fifth of the prompts: %v", f)
	}
}

// evalCase is a prompt with its candidates.
type evalCase struct {
	session     string
	list        []candidate
	good        []bool // of each candidate
	any         bool   // a turn outside the context is useful
	checked     bool   // MayRecall is true
	usefulShare float64
}

type figures struct{ prompts, checked, recalled, right, passages, useful, needy int }

func (f *figures) add(g figures) {
	f.prompts += g.prompts
	f.checked += g.checked
	f.recalled += g.recalled
	f.right += g.right
	f.passages += g.passages
	f.useful += g.useful
	f.needy += g.needy
}

func (f figures) String() string {
	share := func(a, b int) string {
		if b == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", float64(a)/float64(b))
	}
	return fmt.Sprintf("%d prompts, looked up %s, recalled %d = %s, precision %s, useful passages %s, prompts helped %s, of the %d with useful turns outside the context %s",
		f.prompts, share(f.checked, f.prompts), f.recalled, share(f.recalled, f.prompts), share(f.right, f.recalled), share(f.useful, f.passages),
		share(f.right, f.prompts), f.needy, share(f.right, f.needy))
}

func judge(cases []evalCase, g threshold) figures {
	f := figures{prompts: len(cases)}
	for _, c := range cases {
		if c.any {
			f.needy++
		}
		if !c.checked {
			continue
		}
		f.checked++
		if !g.accepts(c.list) {
			continue
		}
		f.recalled++
		f.passages += len(c.list)
		for _, good := range c.good {
			if good {
				f.useful++
			}
		}
		if slices.Contains(c.good, true) {
			f.right++
		}
	}
	return f
}

// fitThreshold returns the threshold that helps most prompts, with a precision of at
// least 0.8 and recall at no more than a fifth of the prompts; the strictest of equals.
func fitThreshold(cases []evalCase) threshold {
	best, helped := threshold{coverage: 2}, 0
	for _, share := range []float64{0.2, 0.3, 0.4, 0.5, 0.6} {
		for _, rare := range []float64{0, 0.4, 0.6, 0.8, 1, 1.2, 1.5, 2} {
			g := threshold{share, rare}
			f := judge(cases, g)
			if f.recalled > 0 && f.recalled*5 <= f.prompts && f.right*10 >= f.recalled*8 && f.right >= helped {
				best, helped = g, f.right
			}
		}
	}
	return best
}

// halves splits the cases by their sessions.
func halves(cases []evalCase, seed uint64) (a, b []evalCase) {
	ids := sessionsOf(cases)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, c := range cases {
		if slices.Index(ids, c.session) < len(ids)/2 {
			a = append(a, c)
		} else {
			b = append(b, c)
		}
	}
	return a, b
}

func sessionsOf(cases []evalCase) []string {
	var ids []string
	for _, c := range cases {
		if !slices.Contains(ids, c.session) {
			ids = append(ids, c.session)
		}
	}
	return ids
}

func baseRate(cases []evalCase) float64 {
	n := 0.0
	for _, c := range cases {
		n += c.usefulShare
	}
	return n / float64(len(cases))
}

// touched holds the files and names of a turn.
type touched struct {
	session, project string
	turn             archive.Turn
	files, names     map[string]bool
}

func gatherCases(t *testing.T, idx *sqlite.Store) []evalCase {
	t.Helper()
	ctx := t.Context()
	sessions, err := idx.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[archive.Ref]touched{}
	for _, s := range sessions {
		gatherTurns(t, idx, s, all)
	}
	var cases []evalCase
	for ref, me := range all {
		prompt := promptOf(t, idx, ref)
		if prompt == "" || me.turn.Copy != nil || me.turn.Dead {
			continue
		}
		c := evalCase{session: ref.Session, checked: MayRecall(prompt) && len(ReadPrompt(prompt).Names) > 0}
		r := PromptRequest{Session: ref.Session, Project: me.project, Prompt: prompt, Until: me.turn.Start, BeforeLine: me.turn.LineFrom, Now: me.turn.Start, Units: MaxPromptUnits}
		seen, err := loadContext(ctx, idx, r)
		if err != nil {
			t.Fatal(err)
		}
		if c.checked {
			if c.list, err = promptCandidates(ctx, idx, r, seen); err != nil {
				t.Fatal(err)
			}
			for _, f := range c.list {
				c.good = append(c.good, useful(me, all[archive.Ref{Session: f.Passage.Session, Turn: f.Turn}], prompt))
			}
		}
		n, good := 0, 0
		for other, x := range all {
			if x.project != me.project || !x.turn.Start.Before(me.turn.Start) || len(x.files) == 0 ||
				seen.contains(archive.Passage{Session: other.Session, Turn: other.Turn, Step: -1}) {
				continue
			}
			n++
			if useful(me, x, prompt) {
				good++
			}
		}
		if n > 0 {
			c.usefulShare = float64(good) / float64(n)
		}
		c.any = good > 0
		cases = append(cases, c)
	}
	slices.SortFunc(cases, func(a, b evalCase) int { return strings.Compare(a.session, b.session) })
	return cases
}

func gatherTurns(t *testing.T, idx *sqlite.Store, s archive.Session, all map[archive.Ref]touched) {
	t.Helper()
	ctx := t.Context()
	turns, err := idx.Turns(ctx, archive.Span{Session: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		all[archive.Ref{Session: s.ID, Turn: turn.Index}] = touched{
			session: s.ID, project: s.Project.Key, turn: turn, files: map[string]bool{}, names: map[string]bool{},
		}
	}
	files, err := idx.Files(ctx, archive.Span{Session: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all[archive.Ref{Session: s.ID, Turn: f.Turn}].files[pathEnd(filepath.ToSlash(f.Path))] = true
	}
	passages, err := idx.Passages(ctx, archive.PassageSpan{Span: archive.Span{Session: s.ID}, Kinds: []archive.PassageKind{archive.KindCommand, archive.KindEdit}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range passages {
		for _, n := range ReadPrompt(p.Text).Names {
			if len(n) >= 8 && isName(n) && !strings.Contains(n, "/") {
				all[archive.Ref{Session: s.ID, Turn: p.Turn}].names[n] = true
			}
		}
	}
}

// useful reports whether a turn touched files or names of another turn.
func useful(me, other touched, prompt string) bool {
	for f := range me.files {
		if other.files[f] {
			return true
		}
	}
	prompt = strings.ToLower(prompt)
	shared := 0
	for n := range me.names {
		if other.names[n] && !strings.Contains(prompt, strings.ToLower(n)) {
			shared++
		}
	}
	return shared >= 2
}

func promptOf(t *testing.T, idx *sqlite.Store, ref archive.Ref) string {
	t.Helper()
	ps, err := idx.Passages(t.Context(), archive.PassageSpan{
		Span: archive.Span{Session: ref.Session, TurnFrom: ref.Turn, TurnTo: ref.Turn + 1}, Kinds: []archive.PassageKind{archive.KindPrompt},
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, p := range ps {
		if p.Step < 0 {
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// TestEvalRelated evaluates Related at each compaction of real sessions: whether one of
// its turns touched a file that the session touches after the compaction. It also logs the
// share of all earlier turns of other sessions that did, which a gate has to exceed clearly.
func TestEvalRelated(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("no real transcripts: set STRANDLINE_EVAL_DATA to a folder of them")
	}
	idx := archived(t, dir)
	sessions, err := idx.Sessions(t.Context(), archive.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[archive.Ref]touched{}
	for _, s := range sessions {
		gatherTurns(t, idx, s, all)
	}
	count, recalled, right, others, chance := 0, 0, 0, 0, 0
	for _, s := range sessions {
		compactions, err := idx.Compactions(t.Context(), archive.Span{Session: s.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range compactions {
			count++
			after := touched{files: map[string]bool{}}
			files, err := idx.Files(t.Context(), archive.Span{Session: s.ID})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.Line > c.Line {
					after.files[pathEnd(f.Path)] = true
				}
			}
			for _, x := range all {
				if x.project == s.Project.Key && x.session != s.ID && x.turn.Start.Before(c.Time) && len(x.files) > 0 {
					others++
					if useful(after, x, "") {
						chance++
					}
				}
			}
			list, err := relatedCandidates(t.Context(), idx, PromptRequest{Session: s.ID, Project: s.Project.Key, Until: c.Time, BeforeLine: c.Line})
			if err != nil {
				t.Fatal(err)
			}
			if !defaultThreshold().accepts(list) {
				continue
			}
			recalled++
			if slices.ContainsFunc(list, func(f candidate) bool {
				return useful(after, all[archive.Ref{Session: f.Passage.Session, Turn: f.Turn}], "")
			}) {
				right++
			}
		}
	}
	t.Logf("%d compactions, recalled at %d, useful at %d; of %d earlier turns of other sessions %d are", count, recalled, right, others, chance)
}

// archived imports the transcripts of a folder.
func archived(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	ctx, home := t.Context(), t.TempDir()
	idx, err := sqlite.Open(ctx, filepath.Join(home, "index.db"), sqlite.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { idx.Close() })
	c := &capture.Capture{
		Layout: sessionlog.Layout{Root: home}, Now: time.Now,
		// The sessions of a repository are from several clones of it.
		Project: func(string) archive.Project { return archive.Project{} },
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		repo, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		c.Project = func(string) archive.Project { return archive.Project{Key: "dir:" + repo, Name: repo} }
		src, err := capture.TranscriptSource(path, strings.TrimSuffix(filepath.Base(path), ".jsonl"), "/w")
		if err != nil {
			return nil //nolint:nilerr // no transcript of the client's
		}
		got, err := c.LogSession(ctx, src, false)
		if err != nil {
			return err
		}
		return c.IndexAll(ctx, idx, got.Sessions)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return idx
}
