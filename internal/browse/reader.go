package browse

import (
	"fmt"
	"strings"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// reader shows the text around a hit.
type reader struct {
	ref    archive.Ref
	hit    recall.Hit
	terms  []archive.Term
	blocks []app.Block
	loaded bool
	err    error

	rows  []row // the text, wrapped at width cells
	width int
	top   int // the first visible row
}

// row is one line of the screen.
type row struct {
	text  string
	head  bool // heading of a block
	marks []recall.Mark
}

func (p *reader) fill(blocks []app.Block, err error) {
	p.loaded, p.err, p.width = true, err, 0
	for _, b := range blocks {
		if b.Conversation() {
			b.Text = strings.ReplaceAll(strings.TrimRight(text.Visible(b.Text), "\n "), "\t", "    ")
			p.blocks = append(p.blocks, b)
		}
	}
}

// fit wraps the text at a width and keeps top in range. The first call scrolls to
// the hit.
func (p *reader) fit(width, height int) {
	if width != p.width && p.loaded && width > 0 {
		first := p.rows == nil
		was := len(p.rows)
		start := p.wrap(width)
		switch {
		case first:
			p.top = max(start-height/4, 0)
		case was > 0: // keep about the same position
			p.top = p.top * len(p.rows) / was
		}
		p.width = width
	}
	p.top = max(min(p.top, len(p.rows)-height), 0)
}

// wrap sets the rows and returns the index of the hit's row.
func (p *reader) wrap(width int) (start int) {
	p.rows = []row{}
	hitRow, markRow := -1, -1
	for i, b := range p.blocks {
		if i > 0 {
			p.rows = append(p.rows, row{})
		}
		from := len(p.rows)
		p.rows = append(p.rows, row{text: heading(b), head: true})
		for _, text := range wrapped(b.Text, width) {
			p.rows = append(p.rows, row{text: text, marks: recall.Marks(text, p.terms)})
		}
		if b.Line < p.hit.LineFrom || hitRow >= 0 && b.Line >= p.hit.LineTo {
			continue
		}
		if hitRow < 0 {
			hitRow = from
		}
		for n, r := range p.rows[from:] {
			if markRow < 0 && len(r.marks) > 0 {
				markRow = from + n
			}
		}
	}
	return max(hitRow, markRow, 0)
}

// heading returns a block's heading.
func heading(b app.Block) string {
	head := b.Kind
	if b.Name != "" {
		head += " " + text.Visible(b.Name)
	}
	if b.Error {
		head += " (error)"
	}
	return fmt.Sprintf("── %s", head)
}

// jump scrolls to the next row with a search term, or to the previous one.
func (p *reader) jump(step int) {
	for n := p.top + step; n >= 0 && n < len(p.rows); n += step {
		if len(p.rows[n].marks) > 0 {
			p.top = n
			return
		}
	}
}
