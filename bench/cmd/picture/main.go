// Command picture renders terminal output as an SVG image. It reads text with
// ANSI colours from stdin and prints the image; -title sets its description.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

func main() {
	title := flag.String("title", "terminal", "description of the image")
	columns := flag.Int("columns", 100, "width in cells; longer lines are cut")
	flag.Parse()
	if err := render(os.Stdout, os.Stdin, *title, *columns); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// Sizes of a cell in the image, in pixels.
const cellWidth, lineHeight, padding = 8.43, 20, 16

const head = `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="%s">
<style>
rect{fill:#f6f8fa;stroke:#d0d7de}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.b{font-weight:600}.d{fill:#59636e}.c31{fill:#a40e26}.c32{fill:#116329}.c33{fill:#7d4e00}.c34{fill:#0550ae}.c35{fill:#6639ba}.c36{fill:#1b7c83}
@media(prefers-color-scheme:dark){rect{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}.d{fill:#9198a1}.c31{fill:#f85149}.c32{fill:#3fb950}.c33{fill:#d29922}.c34{fill:#58a6ff}.c35{fill:#bc8cff}.c36{fill:#39c5cf}}
</style>
<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="6"/>
`

// render writes the lines of in as an image.
func render(out io.Writer, in io.Reader, title string, columns int) error {
	var lines []string
	scan := bufio.NewScanner(in)
	for scan.Scan() {
		lines = append(lines, ansi.Truncate(strings.TrimRight(scan.Text(), "\r"), columns, "…"))
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read the terminal's output: %w", err)
	}
	width, height := float64(columns)*cellWidth+2*padding, len(lines)*lineHeight+2*padding
	var b strings.Builder
	fmt.Fprintf(&b, head, width, height, html.EscapeString(title), width-1, height-1)
	state := []string(nil)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">`, padding, padding+i*lineHeight+14)
		state = spans(&b, line, state)
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	return nil
}

// spans writes a line with its colours and returns the classes in force at its end.
func spans(b *strings.Builder, line string, classes []string) []string {
	escape := regexp.MustCompile(`\x1b\[([0-9;]*)m|\x1b\][^\x07]*\x07`)
	for line != "" {
		at := escape.FindStringSubmatchIndex(line)
		plain := line
		if at != nil {
			plain = line[:at[0]]
		}
		if plain != "" {
			fmt.Fprintf(b, `<tspan class="%s">%s</tspan>`, strings.Join(classes, " "), html.EscapeString(plain))
		}
		if at == nil {
			break
		}
		if at[2] >= 0 {
			classes = apply(classes, line[at[2]:at[3]])
		}
		line = line[at[1]:]
	}
	return classes
}

// apply returns the classes after an SGR sequence.
func apply(classes []string, codes string) []string {
	classes = slices.Clone(classes)
	for code := range strings.SplitSeq(codes, ";") {
		switch {
		case code == "" || code == "0":
			classes = nil
		case code == "1":
			classes = append(classes, "b")
		case code == "2" || code == "90":
			classes = append(classes, "d")
		case len(code) == 2 && code[0] == '3' && code[1] < '8':
			classes = append(classes, "c"+code)
		case len(code) == 2 && code[0] == '9':
			classes = append(classes, "c3"+code[1:])
		case code == "22" || code == "39":
			classes = nil
		}
	}
	return classes
}
