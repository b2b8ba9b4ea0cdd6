package browse

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"strandline/internal/archive"
	"strandline/internal/logread"
	"strandline/internal/recall"
)

// Model is the state of a browser. Searches and readings run beside it; each
// carries the number of its question, and an answer to an older one is dropped.
type Model struct {
	ctx           context.Context
	opt           Options
	width, height int

	query  line
	typing bool // keys are letters of the query
	all    bool // search every project
	span   int  // of spans

	asked     int // number of the last question
	searching bool
	endSearch context.CancelFunc
	result    recall.Result
	answered  string // what result is the answer to; empty: to nothing
	failed    error
	at, top   int // the chosen hit, the first one shown

	reading int // number of the last reading
	endRead context.CancelFunc
	place   place
	opened  bool // the place fills the screen
	note    string
}

// spans are the limits of time that one goes through.
func spans() []struct {
	name string
	long time.Duration
} {
	const day = 24 * time.Hour
	return []struct {
		name string
		long time.Duration
	}{{"any time", 0}, {"24 hours", day}, {"7 days", 7 * day}, {"30 days", 30 * day}}
}

// pause is how long nothing is typed before the search begins.
const pause = 120 * time.Millisecond

// Messages of the model to itself.
type (
	paused   struct{ asked int }
	answered struct {
		asked  int
		result recall.Result
		err    error
	}
	read struct {
		reading int
		blocks  []logread.Block
		err     error
	}
)

// New returns a browser; what it starts ends with ctx.
func New(ctx context.Context, opt Options) *Model {
	m := &Model{ctx: ctx, opt: opt, typing: true, all: opt.All, endSearch: func() {}, endRead: func() {}}
	m.query.set(opt.Query)
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return m.ask() }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layOut()
	case tea.KeyPressMsg:
		m.note = ""
		next = m.key(msg)
	case tea.PasteMsg:
		if m.typing && !m.opened {
			next = m.typed(msg.Content)
		}
	case paused:
		if msg.asked == m.asked {
			next = m.search()
		}
	case answered:
		if msg.asked == m.asked {
			next = m.take(msg)
		}
	case read:
		if msg.reading == m.reading {
			m.place.fill(msg.blocks, msg.err)
			m.layOut()
		}
	}
	return m, next
}

// typed puts text into the query.
func (m *Model) typed(text string) tea.Cmd {
	m.query.insert(text)
	return m.later()
}

// later asks when nothing more is typed for a moment.
func (m *Model) later() tea.Cmd {
	m.endSearch()
	m.asked++
	if m.words() == "" {
		return m.ask()
	}
	m.searching = true
	asked := m.asked
	return tea.Tick(pause, func(time.Time) tea.Msg { return paused{asked} })
}

// ask asks now.
func (m *Model) ask() tea.Cmd {
	m.endSearch()
	m.asked++
	if m.words() == "" {
		m.searching, m.failed, m.answered = false, nil, ""
		m.result = recall.Result{}
		return m.choose(0)
	}
	return m.search()
}

func (m *Model) words() string { return strings.TrimSpace(m.query.String()) }

func (m *Model) search() tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.endSearch, m.searching = cancel, true
	asked, query, all, since := m.asked, m.words(), m.all, time.Time{}
	if long := spans()[m.span].long; long > 0 {
		since = m.opt.Now().Add(-long)
	}
	return func() tea.Msg {
		defer cancel()
		result, err := m.opt.Archive.Search(ctx, query, all, since)
		return answered{asked, result, err}
	}
}

func (m *Model) take(msg answered) tea.Cmd {
	m.searching, m.failed, m.result, m.answered = false, msg.err, msg.result, m.words()
	return m.choose(0)
}

// choose makes a hit the one that is shown, and reads its place.
func (m *Model) choose(n int) tea.Cmd {
	m.at = max(min(n, len(m.result.Hits)-1), 0)
	if len(m.result.Hits) == 0 {
		m.endRead()
		m.reading++
		m.top, m.place, m.opened = 0, place{}, false
		return nil
	}
	h := m.result.Hits[m.at]
	m.layOut()
	return m.read(h, h.Ref)
}

// read shows a place around a hit.
func (m *Model) read(h recall.Hit, at archive.Ref) tea.Cmd {
	m.endRead()
	m.reading++
	m.place = place{ref: at, hit: h, terms: m.result.Terms}
	if h.LineFrom < 0 { // no line of the transcript says it
		m.place.fill([]logread.Block{{Kind: string(h.Kind), Time: h.Time, Text: h.Text}}, nil)
		m.layOut()
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.endRead = cancel
	reading := m.reading
	return func() tea.Msg {
		defer cancel()
		blocks, err := m.opt.Archive.Read(ctx, at)
		return read{reading, blocks, err}
	}
}
