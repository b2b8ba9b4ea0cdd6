package browse

import (
	tea "charm.land/bubbletea/v2"
)

// key handles a key. Ctrl keys work in every view; letters edit the query while
// it has the focus.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "ctrl+c":
		return m.quit()
	case "ctrl+y":
		return m.copyHandle()
	}
	if m.opened {
		return m.keyReading(name)
	}
	switch name {
	case "ctrl+p", "ctrl+t":
		return m.filter(name)
	case "up", "ctrl+k":
		return m.selectHit(m.selected - 1)
	case "down", "ctrl+j", "ctrl+n":
		return m.selectHit(m.selected + 1)
	case "enter":
		m.opened = len(m.result.Hits) > 0
		m.fitScreen()
		return nil
	}
	switch {
	case m.scroll(name):
		return nil
	case m.typing:
		return m.keyTyping(k)
	}
	return m.keyListing(name)
}

func (m *Model) quit() tea.Cmd {
	m.cancelSearch()
	m.cancelRead()
	return tea.Quit
}

// scroll scrolls the text and reports whether the key does that.
func (m *Model) scroll(name string) bool {
	pages := map[string]int{"pgdown": 1, "pgup": -1}[name]
	m.reader.top += pages * max(m.layout().textHeight-1, 1)
	m.fitScreen()
	return pages != 0
}

// keyTyping edits the query.
func (m *Model) keyTyping(k tea.KeyPressMsg) tea.Cmd {
	before := m.query.String()
	switch name := k.String(); name {
	case "esc":
		if before == "" {
			return m.quit()
		}
		m.query.set("")
	case "tab":
		m.typing = false
		return nil
	default:
		if !m.query.edit(name) {
			if k.Text == "" {
				return nil
			}
			m.query.insert(k.Text)
		}
	}
	if m.query.String() == before {
		return nil
	}
	return m.searchLater()
}

// keyListing handles letters while the list has the focus.
func (m *Model) keyListing(name string) tea.Cmd {
	switch name {
	case "q":
		return m.quit()
	case "/", "i", "tab", "esc":
		m.typing = true
	case "j":
		return m.selectHit(m.selected + 1)
	case "k":
		return m.selectHit(m.selected - 1)
	case "g", "home":
		return m.selectHit(0)
	case "G", "end":
		return m.selectHit(len(m.result.Hits) - 1)
	case "space":
		m.scroll("pgdown")
	case "y":
		return m.copyHandle()
	case "p", "t":
		return m.filter("ctrl+" + name)
	}
	return nil
}

// keyReading handles keys while the text fills the screen.
func (m *Model) keyReading(name string) tea.Cmd {
	p := &m.reader
	switch name {
	case "q", "esc", "backspace", "left", "h":
		m.opened = false
		return m.selectHit(m.selected) // reads the hit's own step again
	case "y":
		return m.copyHandle()
	case "enter", "right", "l":
		if turn := p.ref; turn.Step >= 0 {
			turn.Step = -1
			return m.read(p.hit, turn)
		}
	case "down", "j":
		p.top++
	case "up", "k":
		p.top--
	case "g", "home":
		p.top = 0
	case "G", "end":
		p.top = len(p.rows)
	case "space":
		m.scroll("pgdown")
	case "n", "N":
		p.jump(map[string]int{"n": 1, "N": -1}[name])
	default:
		m.scroll(name)
	}
	m.fitScreen()
	return nil
}

// copyHandle copies the handle to the terminal's clipboard (OSC 52).
func (m *Model) copyHandle() tea.Cmd {
	if len(m.result.Hits) == 0 {
		return nil
	}
	handle := m.reader.ref.Handle()
	m.note = "copied " + handle
	return tea.SetClipboard(handle)
}

// filter selects the next project or time filter.
func (m *Model) filter(name string) tea.Cmd {
	if name == "ctrl+p" {
		m.all = !m.all
	} else {
		m.age = (m.age + 1) % len(ages())
	}
	return m.searchNow()
}
