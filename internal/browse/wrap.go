package browse

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wrapped breaks the lines of a text at width cells, between words where that is
// possible. Nothing is lost: blanks stay where they are, flags and paths keep
// their dashes.
func wrapped(text string, width int) []string {
	width = max(width, 2) // of the widest character
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= width { // no character is wider than its bytes
			out = append(out, line)
			continue
		}
		row, cells := 0, 0 // the beginning of the row, its width
		blank := -1        // behind the last blank of the row
		for at := 0; at < len(line); {
			cluster, w := ansi.FirstGraphemeCluster(line[at:], ansi.GraphemeWidth)
			for cells+w > width && at > row {
				end := at
				if blank > row {
					end = blank
				}
				out = append(out, line[row:end])
				cells = ansi.StringWidth(line[end:at])
				row, blank = end, -1
			}
			cells += w
			at += len(cluster)
			if cluster == " " {
				blank = at
			}
		}
		out = append(out, line[row:])
	}
	return out
}
