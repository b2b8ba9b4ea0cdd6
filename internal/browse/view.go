package browse

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// Sizes, in cells.
const (
	leastWidth, leastHeight = 20, 5
	wide                    = 100 // from here on the list stands beside the text
	listWidth               = 52  // of the list, there
	hitRows                 = 3   // of each hit, there
	withText                = 12  // rows below which only the list is shown
	prompt                  = "search › "
	between                 = " │ "
)

// layout is how the screen is shared out.
type layout struct {
	beside                bool
	listWidth, listHeight int // rows of the list
	textWidth, textHeight int
}

func (m *Model) layout() layout {
	rows := m.height - 4 // the search line, what it gave, an empty one, the keys
	switch {
	case m.opened:
		return layout{textWidth: m.width, textHeight: m.height - 3}
	case m.width >= wide && m.height >= withText:
		left := max(listWidth, m.width*2/5)
		return layout{beside: true, listWidth: left, listHeight: rows, textWidth: m.width - left - len([]rune(between)), textHeight: rows - 1}
	case m.height < withText:
		return layout{listWidth: m.width, listHeight: rows}
	}
	list := min(rows*2/5, max(len(m.result.Hits), 1))
	return layout{listWidth: m.width, listHeight: list, textWidth: m.width, textHeight: rows - list - 1}
}

// layOut keeps the chosen hit and the text within the screen.
func (m *Model) layOut() {
	l := m.layout()
	m.place.lay(l.textWidth, max(l.textHeight, 1))
	if m.opened {
		return
	}
	shown := max(l.listHeight, 1)
	if l.beside {
		shown = max(l.listHeight/hitRows, 1)
	}
	m.top = max(min(m.top, m.at), m.at-shown+1)
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: "strandline"}
	if m.width == 0 { // not told yet
		return v
	}
	if m.width < leastWidth || m.height < leastHeight {
		v.SetContent(cut("too small a window", m.width))
		return v
	}
	if m.opened {
		v.SetContent(m.viewOpened())
		return v
	}
	l := m.layout()
	filters := m.filters()
	room := m.width - ansi.StringWidth(prompt) - ansi.StringWidth(filters) - 2
	if room < m.width/3 {
		filters, room = "", m.width-ansi.StringWidth(prompt)-1
	}
	typed, cursor := m.query.view(room)
	if m.typing {
		v.Cursor = tea.NewCursor(ansi.StringWidth(prompt)+cursor, 0)
	}
	lines := []string{ends(accent(prompt)+typed, faint(filters), m.width), cut(m.status(), m.width), ""}
	lines = append(lines, m.body(l)...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.keys())
	v.SetContent(strings.Join(lines, "\n"))
	return v
}

func (m *Model) filters() string {
	where := "all projects"
	if !m.all {
		where = cut(text.Visible(m.opt.Project), 24)
	}
	return where + " · " + spans()[m.span].name
}

// status says what became of the question.
func (m *Model) status() string {
	r := m.result
	switch {
	case m.note != "":
		return kind(m.note)
	case m.words() == "":
		return faint(count(m.opt.Sessions, "session") + " to search")
	case m.failed != nil:
		return danger(sentence(m.failed))
	case m.searching:
		return faint("searching…")
	case len(r.Hits) == 0:
		return faint("nothing found")
	}
	said := fmt.Sprintf("%d of %s", m.at+1, count(len(r.Hits), "hit"))
	switch {
	case r.Hits[0].Related:
		said += " · none holds the words; these may be related"
	case r.Relaxed == recall.RelaxedPhrase:
		said += " · none holds the quoted words together"
	case r.Relaxed == recall.RelaxedPrefix:
		said += " · none holds the words whole"
	}
	if r.Elsewhere {
		said += " · more in other projects"
	}
	if len(r.Notes) > 0 {
		said += " · " + text.Visible(strings.Join(r.Notes, " · "))
	}
	return faint(said)
}

// sentence is an error as its first words tell it.
func sentence(err error) string {
	if told, ok := errors.AsType[*archive.Error](err); ok {
		return text.Visible(told.Msg)
	}
	return text.Visible(strings.ReplaceAll(err.Error(), "\n", " "))
}

func (m *Model) body(l layout) []string {
	if len(m.result.Hits) == 0 {
		return m.instead()
	}
	list := m.list(l)
	if l.textHeight < 1 {
		return list
	}
	text := m.text(l)
	if !l.beside {
		return append(append(list, m.rule(l.textWidth)), text...)
	}
	text = append([]string{m.rule(l.textWidth)}, text...)
	out := make([]string, 0, l.listHeight)
	for i := range l.listHeight {
		out = append(out, fit(at(list, i), l.listWidth)+faint(between)+at(text, i))
	}
	return out
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// rule heads the text with the place where it stands.
func (m *Model) rule(width int) string {
	h := m.result.Hits[m.at]
	said := " " + text.Visible(h.Project) + " · " + m.stamp(h)
	head := faint("── ") + bold(m.place.ref.Handle()) + faint(said+" ")
	return cut(head+faint(strings.Repeat("─", max(width-ansi.StringWidth(head), 0))), width)
}

func (m *Model) stamp(h recall.Hit) string {
	if h.Time.IsZero() {
		return "no time"
	}
	return h.Time.In(m.opt.Now().Location()).Format("2006-01-02 15:04")
}

// text is the part of the place that is shown.
func (m *Model) text(l layout) []string {
	p := m.place
	switch {
	case p.failed != nil:
		return []string{danger(cut(sentence(p.failed), l.textWidth))}
	case !p.loaded:
		return nil
	case len(p.rows) == 0:
		return []string{faint("nothing was said here")}
	}
	out := make([]string, 0, l.textHeight)
	for _, r := range p.rows[p.top:min(p.top+l.textHeight, len(p.rows))] {
		if r.head {
			out = append(out, kind(cut(r.text, l.textWidth)))
			continue
		}
		out = append(out, marked(r.text, r.marks))
	}
	return out
}

// instead is what stands where hits would.
func (m *Model) instead() []string {
	var lines []string
	r := m.result
	switch {
	case m.failed != nil:
		if hint := archive.ErrorHint(m.failed); hint != "" {
			lines = append(lines, hint)
		}
	case m.opt.Sessions == 0:
		lines = append(lines, "Nothing is archived yet.", "`strandline import` brings in the sessions that exist.")
	case m.words() == "":
		lines = append(lines, "Type what you look for: words, parts of identifiers, paths.", "",
			`"retry policy"     words that belong together`,
			"back*              beginnings of words",
			"file:retry.go      where a file was worked on",
			"kind:command       prompt, reply, command, edit, output, summary",
			"since:7d           of the last seven days")
	case m.searching:
	default:
		if r.Elsewhere {
			lines = append(lines, "There are hits in other projects: ctrl+p searches all.")
		}
		if r.InAgents {
			lines = append(lines, "There are hits in sub-agents' runs: strandline search --agents.")
		}
		if r.Rewound {
			lines = append(lines, "There are hits in rewound turns: strandline search --rewound.")
		}
		if m.span > 0 && !r.Elsewhere {
			lines = append(lines, "Only the last "+spans()[m.span].name+" were searched: ctrl+t takes more.")
		}
	}
	for i := range lines {
		lines[i] = faint(cut("  "+lines[i], m.width))
	}
	return lines
}

// viewOpened is a place that fills the screen.
func (m *Model) viewOpened() string {
	p := m.place
	l := m.layout()
	where := ""
	if p.loaded && len(p.rows) > 0 {
		where = fmt.Sprintf("%d–%d of %d", p.top+1, min(p.top+l.textHeight, len(p.rows)), len(p.rows))
	}
	head := bold(p.ref.Handle()) + faint("  "+text.Visible(p.hit.Project)+" · "+m.stamp(p.hit))
	if m.note != "" {
		head = kind(m.note)
	}
	lines := append([]string{ends(head, faint(where), m.width), ""}, m.text(l)...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:m.height-1], m.keys()), "\n")
}

// keys is the footer: as many keys as there is room for, the first ones first.
func (m *Model) keys() string {
	var all []string
	switch {
	case m.opened:
		all = []string{"esc back", "↑↓ scroll", "enter whole turn", "n next match", "y copy handle", "g top", "G end"}
		if m.place.ref.Step < 0 {
			all = append(all[:2], all[3:]...)
		}
	case m.typing:
		all = []string{"esc leave", "↑↓ choose", "enter open", "tab keys", "^y copy", "^p project", "^t time", "pgdn scroll"}
		if m.query.String() != "" {
			all[0] = "esc clear"
		}
	default:
		all = []string{"q leave", "↑↓ choose", "enter open", "y copy handle", "p project", "t time", "/ search", "pgdn scroll"}
	}
	var b strings.Builder
	width := 0
	for i, k := range all {
		name, does, _ := strings.Cut(k, " ")
		more := ansi.StringWidth(k)
		if i > 0 {
			more += 2
		}
		if width+more > m.width {
			break
		}
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(bold(name) + " " + faint(does))
		width += more
	}
	return b.String()
}

func number(n int) string { return strconv.Itoa(n) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}
