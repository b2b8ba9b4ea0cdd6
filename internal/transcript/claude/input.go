package claude

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
)

// member is one member of a tool's input; raw is its JSON value.
type member struct {
	key string
	raw []byte
}

// input is what a tool was given, in the order it was written. Input that is no
// object has no members.
type input struct {
	members []member
	raw     []byte
}

// readInput parses raw with a scanner of its own, so that the row layer is not
// disturbed.
func (s *scanner) readInput(raw []byte) input {
	in := input{raw: raw}
	if len(raw) == 0 || raw[0] != '{' {
		return in
	}
	s.reset(raw)
	// The row layer has parsed these bytes before; an error can not come back.
	_ = s.object(func(key []byte) error {
		v, err := s.value()
		in.members = append(in.members, member{string(key), v})
		return err
	})
	return in
}

// list calls element with each raw element of a JSON array.
func (s *scanner) list(raw []byte, element func(raw []byte)) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	var all [][]byte
	s.reset(raw)
	_ = s.elements(func() error {
		v, err := s.value()
		all = append(all, v)
		return err
	})
	for _, v := range all {
		element(v)
	}
}

func (in input) value(key string) []byte {
	for _, m := range in.members {
		if m.key == key {
			return m.raw
		}
	}
	return nil
}

// text returns the text of the first of the keys that has one.
func (in input) text(keys ...string) string {
	for _, k := range keys {
		if t := unquote(in.value(k)); t != "" {
			return t
		}
	}
	return ""
}

// files returns the paths a tool was given.
func (in input) files() []string {
	if path := in.text("file_path", "notebook_path", "path"); path != "" {
		return []string{path}
	}
	return nil
}

// The longest texts that a summary of a tool's input takes, in bytes.
const (
	maxInputValue   = 240
	maxInputSummary = 600
)

// describe says in one line what a tool was asked, without its name and without
// secrets.
func (r *Reader) describe(kind archive.CallKind, in input) string {
	var words []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t = oneLine(r.clean(t), maxInputValue); t != "" {
				words = append(words, t)
			}
		}
	}
	switch kind {
	case archive.CallRead:
		add(in.text("file_path", "notebook_path"))
		if from := in.text("offset"); from != "" {
			add("from line " + from)
		}
	case archive.CallSearch:
		add(in.text("pattern"), in.text("path"), in.text("glob"))
	case archive.CallWeb:
		add(in.text("url"), in.text("query"), in.text("prompt"))
	case archive.CallAgent:
		add(in.text("subagent_type"), in.text("description"), in.text("prompt"))
	default:
		r.scan.describeAny(in, add)
	}
	return clipBytes(strings.Join(words, " · "), maxInputSummary)
}

// describeAny names every member with a plain value, and those of the objects
// in a list by their texts.
func (s *scanner) describeAny(in input, add func(...string)) {
	if len(in.members) == 0 {
		add(unquote(in.raw))
		return
	}
	for _, m := range in.members {
		switch {
		case len(m.raw) == 0:
		case m.raw[0] == '[' || m.raw[0] == '{':
			add(m.key + " " + strings.Join(s.texts(m.raw), " "))
		default:
			if t := unquote(m.raw); t != "" {
				add(m.key + " " + t)
			}
		}
	}
}

// texts returns every text inside a JSON value up to a limit, in order.
func (s *scanner) texts(raw []byte) []string {
	var found []string
	s.reset(raw)
	for size := 0; size < maxInputValue; {
		tok, err := s.dec.ReadToken()
		if err != nil {
			break
		}
		if tok.Kind() == jsontext.KindString && !s.atKey() {
			t := tok.String()
			found = append(found, t)
			size += len(t)
		}
	}
	return found
}

// atKey reports whether the token just read was the name of a member.
func (s *scanner) atKey() bool {
	kind, n := s.dec.StackIndex(s.dec.StackDepth())
	return kind == jsontext.KindBeginObject && n%2 == 1
}

// outputText returns the text of a tool result's raw content: a string, or a
// list of blocks of which those without text leave a note.
func (s *scanner) outputText(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '[':
	case '{':
		in := s.readInput(raw)
		return in.text("text", "content")
	default:
		return unquote(raw)
	}
	var b strings.Builder
	s.list(raw, func(raw []byte) {
		var text string
		if len(raw) > 0 && raw[0] == '{' {
			in := s.readInput(raw)
			if text = in.text("text"); text == "" {
				text = note(in.text("type"), in.text("tool_name"), in.text("title"), in.text("url"))
			}
		} else {
			text = unquote(raw)
		}
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	})
	return b.String()
}

// note stands for a block that has no text, such as an image.
func note(words ...string) string {
	if text := strings.Join(strings.Fields(strings.Join(words, " ")), " "); text != "" && text != "text" {
		return "[" + text + "]"
	}
	return ""
}
