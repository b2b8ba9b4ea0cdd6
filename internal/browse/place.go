package browse

import (
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/logread"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// place is the text around a hit.
type place struct {
	ref    archive.Ref
	hit    recall.Hit
	terms  []archive.Term
	blocks []logread.Block
	loaded bool
	failed error

	rows  []row // the text, broken for width cells
	width int
	top   int // the first row shown
}

// row is one line of the screen.
type row struct {
	text  string
	head  bool // names a block
	marks []recall.Mark
}

func (p *place) fill(blocks []logread.Block, err error) {
	p.loaded, p.failed, p.width = true, err, 0
	for _, b := range blocks {
		if logread.Spoken(b) {
			b.Text = strings.ReplaceAll(strings.TrimRight(text.Visible(b.Text), "\n "), "\t", "    ")
			p.blocks = append(p.blocks, b)
		}
	}
}

// lay breaks the text for a width and keeps top within it. The first time, top
// is where the hit's words stand.
func (p *place) lay(width, height int) {
	if width != p.width && p.loaded && width > 0 {
		first := p.rows == nil
		was := len(p.rows)
		start := p.breakRows(width)
		switch {
		case first:
			p.top = max(start-height/4, 0)
		case was > 0: // about the same place
			p.top = p.top * len(p.rows) / was
		}
		p.width = width
	}
	p.top = max(min(p.top, len(p.rows)-height), 0)
}

// breakRows makes the rows and returns the one where the hit stands.
func (p *place) breakRows(width int) (start int) {
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

// heading names what a block is.
func heading(b logread.Block) string {
	head := b.Kind
	if b.Name != "" {
		head += " " + text.Visible(b.Name)
	}
	if b.Error {
		head += " (error)"
	}
	return fmt.Sprintf("── %s", head)
}

// jump leads to the next row with a word of the query, or to the one before.
func (p *place) jump(step int) {
	for n := p.top + step; n >= 0 && n < len(p.rows); n += step {
		if len(p.rows[n].marks) > 0 {
			p.top = n
			return
		}
	}
}
