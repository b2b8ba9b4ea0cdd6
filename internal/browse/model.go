// Package browse is a terminal interface to the archive: search as you type, the
// list of hits and the text around the selected one.
package browse

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Model is the state of a browser. Searches and reads run in the background; each
// carries a sequence number, and results of older ones are dropped.
type Model struct {
	ctx           context.Context
	opt           Options
	width, height int

	query  line
	typing bool // the query has the focus
	all    bool // search every project
	age    int  // index in ages

	searchSeq     int // number of the last search
	searching     bool
	cancelSearch  context.CancelFunc
	result        recall.Result
	err           error
	selected, top int // the selected hit, the first visible one

	readSeq    int // number of the last read
	cancelRead context.CancelFunc
	reader     reader
	opened     bool // the text fills the screen
	note       string
}

// ageFilter limits hits to those of the last time span; 0 means no limit.
type ageFilter struct {
	name string
	long time.Duration
}

// ages returns the time filters in their order.
func ages() []ageFilter {
	const day = 24 * time.Hour
	return []ageFilter{{"any time", 0}, {"24 hours", day}, {"7 days", 7 * day}, {"30 days", 30 * day}}
}

// maxHits is the number of hits of a search.
const maxHits = 50

// pause is the time without input after which a search starts.
const pause = 120 * time.Millisecond

// Messages that the model sends to itself.
type (
	paused struct{ seq int }
	found  struct {
		seq    int
		result recall.Result
		err    error
	}
	read struct {
		seq    int
		blocks []app.Block
		err    error
	}
)

// New returns a browser. Its searches and reads end with ctx.
func New(ctx context.Context, opt Options) *Model {
	m := &Model{ctx: ctx, opt: opt, typing: true, all: opt.All, cancelSearch: func() {}, cancelRead: func() {}}
	m.query.set(opt.Query)
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return m.searchNow() }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fitScreen()
	case tea.KeyPressMsg:
		m.note = ""
		next = m.key(msg)
	case tea.PasteMsg:
		if m.typing && !m.opened {
			m.query.insert(msg.Content)
			next = m.searchLater()
		}
	case paused:
		if msg.seq == m.searchSeq {
			next = m.search()
		}
	case found:
		if msg.seq == m.searchSeq {
			m.searching, m.err, m.result = false, msg.err, msg.result
			next = m.selectHit(0)
		}
	case read:
		if msg.seq == m.readSeq {
			m.reader.fill(msg.blocks, msg.err)
			m.fitScreen()
		}
	}
	return m, next
}

// searchLater searches when nothing is typed for the length of pause.
func (m *Model) searchLater() tea.Cmd {
	m.cancelSearch()
	m.searchSeq++
	if m.words() == "" {
		return m.searchNow()
	}
	m.searching = true
	seq := m.searchSeq
	return tea.Tick(pause, func(time.Time) tea.Msg { return paused{seq} })
}

// searchNow starts a search, or clears the hits if the query is empty.
func (m *Model) searchNow() tea.Cmd {
	m.cancelSearch()
	m.searchSeq++
	if m.words() == "" {
		m.searching, m.err, m.result = false, nil, recall.Result{}
		return m.selectHit(0)
	}
	return m.search()
}

func (m *Model) words() string { return strings.TrimSpace(m.query.String()) }

func (m *Model) search() tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancelSearch, m.searching = cancel, true
	seq := m.searchSeq
	q := app.SearchQuery{Text: m.words(), Scope: app.Scope{All: m.all}, Limit: maxHits}
	if long := ages()[m.age].long; long > 0 {
		q.Since = m.opt.Now().Add(-long)
		if typed, err := recall.Parse(q.Text, m.opt.Now()); err == nil && typed.Since.After(q.Since) {
			q.Since = typed.Since // the narrower limit applies
		}
	}
	return func() tea.Msg {
		defer cancel()
		result, err := m.opt.Archive.Search(ctx, q)
		return found{seq, result, err}
	}
}

// selectHit selects a hit and reads its text.
func (m *Model) selectHit(n int) tea.Cmd {
	m.selected = max(min(n, len(m.result.Hits)-1), 0)
	if len(m.result.Hits) == 0 {
		m.cancelRead()
		m.readSeq++
		m.top, m.reader, m.opened = 0, reader{}, false
		return nil
	}
	h := m.result.Hits[m.selected]
	m.fitScreen()
	return m.read(h, h.Ref)
}

// read reads the step or turn of a hit.
func (m *Model) read(h recall.Hit, at archive.Ref) tea.Cmd {
	m.cancelRead()
	m.readSeq++
	m.reader = reader{ref: at, hit: h, terms: m.result.Terms}
	if h.LineFrom < 0 { // a summary is not in the transcript
		m.reader.fill([]app.Block{{Kind: string(h.Kind), Time: h.Time, Text: h.Text}}, nil)
		m.fitScreen()
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancelRead = cancel
	seq := m.readSeq
	return func() tea.Msg {
		defer cancel()
		p, err := m.opt.Archive.Place(ctx, archive.Handle(at))
		return read{seq, p.Blocks, err}
	}
}

// Archive is the archive to browse, usually an *app.App. Its methods are called from several
// goroutines; a call whose result has become useless is cancelled.
type Archive interface {
	Search(ctx context.Context, q app.SearchQuery) (recall.Result, error)
	// Place returns the redacted text of a step, or of a turn if the step is
	// negative.
	Place(ctx context.Context, at archive.Handle) (app.Place, error)
}

// Options configure a browser.
type Options struct {
	Archive  Archive
	Project  string // the current project's name
	All      bool   // start with all projects
	Query    string // initial query
	Sessions int    // number of archived sessions
	Now      func() time.Time
}

// Run shows the archive on a terminal, whose environment holds TERM and NO_COLOR, until
// the user leaves. It returns an error if ctx ends before.
func Run(ctx context.Context, in io.Reader, out io.Writer, env []string, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends running searches
	p := tea.NewProgram(New(ctx, opt), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(env))
	if _, err := p.Run(); err != nil {
		return fmt.Errorf("browse: %w", err)
	}
	return nil
}
