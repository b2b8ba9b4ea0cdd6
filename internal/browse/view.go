package browse

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// Sizes in cells.
const (
	minWidth, minHeight = 20, 5
	wide                = 100 // minimal width to show list and text side by side
	listWidth           = 52  // minimal width of that list
	hitRows             = 3   // rows of a hit in that list
	withText            = 12  // minimal height to show the text below the list
	prompt              = "search › "
	separator           = " │ "
)

// layout divides the screen between the list and the text.
type layout struct {
	sideBySide            bool
	listWidth, listHeight int // rows of the list
	textWidth, textHeight int
}

func (m *Model) layout() layout {
	rows := m.height - 4 // without query, status, empty line and keys
	switch {
	case m.opened:
		return layout{textWidth: m.width, textHeight: m.height - 3}
	case m.width >= wide && m.height >= withText:
		left := max(listWidth, m.width*2/5)
		return layout{sideBySide: true, listWidth: left, listHeight: rows, textWidth: m.width - left - len([]rune(separator)), textHeight: rows - 1}
	case m.height < withText:
		return layout{listWidth: m.width, listHeight: rows}
	}
	list := min(rows*2/5, max(len(m.result.Hits), 1))
	return layout{listWidth: m.width, listHeight: list, textWidth: m.width, textHeight: rows - list - 1}
}

// fitScreen adapts the list and the text to the screen's size.
func (m *Model) fitScreen() {
	l := m.layout()
	m.reader.fit(l.textWidth, max(l.textHeight, 1))
	if m.opened {
		return
	}
	shown := max(l.listHeight, 1)
	if l.sideBySide {
		shown = max(l.listHeight/hitRows, 1)
	}
	m.top = max(min(m.top, m.selected), m.selected-shown+1)
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: "strandline"}
	if m.width == 0 { // size not known yet
		return v
	}
	if m.width < minWidth || m.height < minHeight {
		v.SetContent(clip("window too small", m.width))
		return v
	}
	if m.opened {
		v.SetContent(m.viewOpened())
		return v
	}
	l := m.layout()
	filters := m.filters()
	width := m.width - ansi.StringWidth(prompt) - ansi.StringWidth(filters) - 2
	if width < m.width/3 {
		filters, width = "", m.width-ansi.StringWidth(prompt)-1
	}
	typed, cursor := m.query.view(width)
	if m.typing {
		v.Cursor = tea.NewCursor(ansi.StringWidth(prompt)+cursor, 0)
	}
	head := []string{ends(accent(prompt)+typed, faint(filters), m.width), clip(m.status(), m.width), ""}
	v.SetContent(m.page(append(head, m.body(l)...)))
	return v
}

// page fills the screen with lines, and the keys in the last one.
func (m *Model) page(lines []string) string {
	lines = append(lines, make([]string, m.height)...)
	return strings.Join(append(lines[:m.height-1], m.keys()), "\n")
}

func (m *Model) filters() string {
	where := "all projects"
	if !m.all {
		where = clip(text.Visible(m.opt.Project), 24)
	}
	return where + " · " + ages()[m.age].name
}

// status describes the state of the search.
func (m *Model) status() string {
	r := m.result
	switch {
	case m.note != "":
		return kind(m.note)
	case m.words() == "":
		return faint(text.Count(m.opt.Sessions, "session") + " to search")
	case m.err != nil:
		return danger(message(m.err))
	case m.searching:
		return faint("searching…")
	case len(r.Hits) == 0:
		return faint("no hits")
	}
	s := fmt.Sprintf("%d of %s", m.selected+1, text.Count(len(r.Hits), "hit"))
	switch {
	case r.OnlyRelated():
		s += " · no exact match; these may be related"
	case r.Relaxed == recall.RelaxedWritten:
		s += " · none as written"
	case r.Relaxed == recall.RelaxedPhrase:
		s += " · no match of the quoted phrase"
	case r.Relaxed == recall.RelaxedPrefix:
		s += " · prefix matches only"
	}
	if r.Elsewhere {
		s += " · more in other projects"
	}
	if len(r.Notes) > 0 {
		s += " · " + text.Visible(strings.Join(r.Notes, " · "))
	}
	return faint(s)
}

// message returns an error's message without its cause and hint.
func message(err error) string {
	if e, ok := errors.AsType[*archive.Error](err); ok {
		return text.Visible(e.Msg)
	}
	return text.Visible(strings.ReplaceAll(err.Error(), "\n", " "))
}

func (m *Model) body(l layout) []string {
	if len(m.result.Hits) == 0 {
		return m.help()
	}
	list := m.list(l)
	if l.textHeight < 1 {
		return list
	}
	text := m.text(l)
	if !l.sideBySide {
		return append(append(list, m.rule(l.textWidth)), text...)
	}
	text = append([]string{m.rule(l.textWidth)}, text...)
	out := make([]string, 0, l.listHeight)
	for i := range l.listHeight {
		out = append(out, fit(lineAt(list, i), l.listWidth)+faint(separator)+lineAt(text, i))
	}
	return out
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// rule returns the heading of the text: its handle, project and time.
func (m *Model) rule(width int) string {
	h := m.result.Hits[m.selected]
	where := " " + text.Visible(h.Project) + " · " + m.stamp(h)
	head := faint("── ") + bold(m.reader.ref.Handle()) + faint(where+" ")
	return clip(head+faint(strings.Repeat("─", max(width-ansi.StringWidth(head), 0))), width)
}

func (m *Model) stamp(h recall.Hit) string {
	if h.Time.IsZero() {
		return "no time"
	}
	return h.Time.In(m.opt.Now().Location()).Format("2006-01-02 15:04")
}

// text returns the visible rows of the text.
func (m *Model) text(l layout) []string {
	p := m.reader
	switch {
	case p.err != nil:
		return []string{danger(clip(message(p.err), l.textWidth))}
	case !p.loaded:
		return nil
	case len(p.rows) == 0:
		return []string{faint("no text")}
	}
	out := make([]string, 0, l.textHeight)
	for _, r := range p.rows[p.top:min(p.top+l.textHeight, len(p.rows))] {
		if r.head {
			out = append(out, kind(clip(r.text, l.textWidth)))
			continue
		}
		out = append(out, marked(r.text, r.marks))
	}
	return out
}

// help returns the lines shown if there are no hits.
func (m *Model) help() []string {
	var lines []string
	r := m.result
	switch {
	case m.err != nil:
		if hint := archive.ErrorHint(m.err); hint != "" {
			lines = append(lines, hint)
		}
	case m.opt.Sessions == 0:
		lines = append(lines, "No sessions are archived yet.", "`strandline import` imports the existing ones.")
	case m.words() == "":
		lines = append(lines, "Type words, parts of identifiers or paths.", "",
			`"retry policy"     an exact phrase`,
			"back*              a prefix",
			"file:retry.go      work on a file",
			"kind:command       prompt, reply, command, edit, output, summary",
			"since:7d           the last seven days")
	case m.searching:
	default:
		if r.Elsewhere {
			lines = append(lines, "Other projects have hits ("+r.OthersText()+"): ctrl+p searches all projects.")
		}
		if r.InAgents {
			lines = append(lines, "Sub-agent runs have hits: use strandline search --agents.")
		}
		if r.Rewound {
			lines = append(lines, "Rewound turns have hits: use strandline search --rewound.")
		}
		if m.age > 0 && !r.Elsewhere {
			lines = append(lines, "Only the last "+ages()[m.age].name+" were searched: ctrl+t extends this.")
		}
	}
	for i := range lines {
		lines[i] = faint(clip("  "+lines[i], m.width))
	}
	return lines
}

// viewOpened renders the text on the whole screen.
func (m *Model) viewOpened() string {
	p := m.reader
	l := m.layout()
	where := ""
	if p.loaded && len(p.rows) > 0 {
		where = fmt.Sprintf("%d–%d of %d", p.top+1, min(p.top+l.textHeight, len(p.rows)), len(p.rows))
	}
	head := bold(p.ref.Handle()) + faint("  "+text.Visible(p.hit.Project)+" · "+m.stamp(p.hit))
	if m.note != "" {
		head = kind(m.note)
	}
	return m.page(append([]string{ends(head, faint(where), m.width), ""}, m.text(l)...))
}

// keys renders the footer with as many keys as fit.
func (m *Model) keys() string {
	var all []string
	switch {
	case m.opened:
		all = []string{"esc back", "↑↓ scroll", "enter full turn", "n next match", "y copy handle", "g top", "G end"}
		if m.reader.ref.Step < 0 {
			all = append(all[:2], all[3:]...)
		}
	case m.typing:
		all = []string{"esc quit", "↑↓ select", "enter open", "tab keys", "^y copy", "^p project", "^t time", "pgdn scroll"}
		if m.query.String() != "" {
			all[0] = "esc clear"
		}
	default:
		all = []string{"q quit", "↑↓ select", "enter open", "y copy handle", "p project", "t time", "/ search", "pgdn scroll"}
	}
	var shown []string
	width := 0
	for _, k := range all {
		if width += ansi.StringWidth(k); width > m.width {
			break
		}
		width += len("  ")
		name, action, _ := strings.Cut(k, " ")
		shown = append(shown, bold(name)+" "+faint(action))
	}
	return strings.Join(shown, "  ")
}
