package usage_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"strandline/internal/usage"
)

var draw = flag.Bool("update", false, "redraw docs/statusline.svg")

// TestPicture compares docs/statusline.svg with the statusline's current output. Each
// row is a call, in the colours of the line.
func TestPicture(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test uses a POSIX shell")
	}
	var rows []pictured
	row := func(label string, tokens int, change func(d *lineFixture)) {
		d := newLineFixture(t)
		d.env = map[string]string{"LANG": "C.UTF-8"}
		d.captured(aTurn, func(s *usage.Session) {
			for turn := range 4 {
				s.Append(usage.Point{Turns: turn, Tokens: int64(30_000 + 12_000*turn)})
			}
		})
		change(d)
		rows = append(rows, pictured{label, d.print(d.payload(tokens, 200_000))})
	}
	row("ok", 86_700, func(*lineFixture) {})
	row("warning, from 70 %", 151_000, func(*lineFixture) {})
	row("optimize, from 85 %", 194_000, func(*lineFixture) {})
	row("after a compaction", 0, func(d *lineFixture) { d.state(func(s *usage.Session) { s.History, s.LastTokenEstimate = nil, 18_400 }) })
	row("not captured for a minute", 86_700, func(d *lineFixture) { d.grow(aTurn) })
	row("20 columns", 151_000, func(d *lineFixture) { d.env["COLUMNS"] = "20" })
	row("10 columns", 151_000, func(d *lineFixture) { d.env["COLUMNS"] = "10" })
	row("NO_COLOR", 178_000, func(d *lineFixture) { d.env["NO_COLOR"] = "1" })
	row("LANG=C", 178_000, func(d *lineFixture) { d.env["LANG"] = "C" })
	row("after a user command", 86_700, func(d *lineFixture) { d.Command = "echo 'Opus 5.5 ~/tide (main)'" })
	got := picture(rows)
	path := filepath.Join("..", "..", "docs", "statusline.svg")
	if *draw {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || strings.ReplaceAll(string(want), "\r\n", "\n") != got {
		t.Errorf("docs/statusline.svg differs from the output (%v): run go test ./internal/usage -run Picture -update", err)
	}
}

type pictured struct{ label, line string }

// picture draws lines as in a terminal, in a light and a dark variant.
func picture(rows []pictured) string {
	const height, labels = 26, 250
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="%d" role="img" aria-label="The statusline in its zones, narrow, and plain">
<style>
rect{fill:#f6f8fa;stroke:#d0d7de}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.n{fill:#59636e}.c32{fill:#116329}.c33{fill:#7d4e00}.c31{fill:#a40e26}
@media(prefers-color-scheme:dark){rect{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}.n{fill:#9198a1}.c32{fill:#3fb950}.c33{fill:#d29922}.c31{fill:#f85149}}
</style>
<rect x="0.5" y="0.5" width="719" height="%d" rx="6"/>
`, height*len(rows)+20, height*len(rows)+19)
	for i, r := range rows {
		y := 10 + height*i + 18
		fmt.Fprintf(&b, "<text x=\"16\" y=\"%d\" class=\"n\">%s</text>\n<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", y, html.EscapeString(r.label), labels+16, y, spans(r.line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// spans converts terminal colours to SVG.
func spans(line string) string {
	var b strings.Builder
	for i, part := range strings.Split(line, "\x1b[") {
		code, text, coloured := strings.Cut(part, "m")
		switch {
		case i == 0 || !coloured:
			b.WriteString(html.EscapeString(part))
		case code == "0":
			b.WriteString(html.EscapeString(text))
		default:
			fmt.Fprintf(&b, `<tspan class="c%s">%s</tspan>`, code, html.EscapeString(text))
		}
	}
	return b.String()
}
