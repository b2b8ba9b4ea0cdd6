package browse

import (
	tea "charm.land/bubbletea/v2"
)

// key acts on a key. Keys with ctrl mean the same everywhere; letters are the
// query's while one types it.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "ctrl+c":
		return m.quit()
	case "ctrl+y":
		return m.copyHandle()
	case "ctrl+p", "ctrl+t":
		if m.opened {
			return nil
		}
		return m.filter(name)
	default:
		switch {
		case m.opened:
			return m.keyOpened(name)
		case m.move(name) != nil:
			return m.choose(*m.move(name))
		case name == "enter":
			return m.openHit()
		case m.scroll(name):
			return nil
		case m.typing:
			return m.keyTyping(k)
		}
		return m.keyChoosing(name)
	}
}

func (m *Model) quit() tea.Cmd {
	m.endSearch()
	m.endRead()
	return tea.Quit
}

// move returns the hit that a key leads to.
func (m *Model) move(name string) *int {
	to := m.at
	switch name {
	case "up", "ctrl+k":
		to--
	case "down", "ctrl+j", "ctrl+n":
		to++
	default:
		return nil
	}
	return &to
}

// scroll moves the text of the place.
func (m *Model) scroll(name string) bool {
	page := max(m.layout().textHeight-1, 1)
	switch name {
	case "pgdown":
		m.place.top += page
	case "pgup":
		m.place.top -= page
	default:
		return false
	}
	m.layOut()
	return true
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
	return m.later()
}

// keyChoosing acts on letters beside the list.
func (m *Model) keyChoosing(name string) tea.Cmd {
	switch name {
	case "q":
		return m.quit()
	case "/", "i", "tab", "esc":
		m.typing = true
	case "j":
		return m.choose(m.at + 1)
	case "k":
		return m.choose(m.at - 1)
	case "g", "home":
		return m.choose(0)
	case "G", "end":
		return m.choose(len(m.result.Hits) - 1)
	case "space":
		m.scroll("pgdown")
	case "y":
		return m.copyHandle()
	case "p", "t":
		return m.filter("ctrl+" + name)
	}
	return nil
}

// keyOpened acts on keys where the place fills the screen.
func (m *Model) keyOpened(name string) tea.Cmd {
	p := &m.place
	switch name {
	case "q", "esc", "backspace", "left", "h":
		m.opened = false
		return m.choose(m.at) // the list shows the hit's own place again
	case "y":
		return m.copyHandle()
	case "enter", "right", "l":
		if whole := p.ref; whole.Step >= 0 {
			whole.Step = -1
			return m.read(p.hit, whole)
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
	m.layOut()
	return nil
}

func (m *Model) openHit() tea.Cmd {
	if len(m.result.Hits) > 0 {
		m.opened = true
		m.layOut()
	}
	return nil
}

// copyHandle asks the terminal to put the handle into the clipboard.
func (m *Model) copyHandle() tea.Cmd {
	if len(m.result.Hits) == 0 {
		return nil
	}
	handle := m.place.ref.Handle()
	m.note = handle + " is sent to the clipboard"
	return tea.SetClipboard(handle)
}

// filter goes to the next project or time filter.
func (m *Model) filter(name string) tea.Cmd {
	if name == "ctrl+p" {
		m.all = !m.all
	} else {
		m.span = (m.span + 1) % len(spans())
	}
	return m.ask()
}
