package browse

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wrapped breaks a text's lines at width cells, between words if possible. All
// characters are kept, including blanks.
func wrapped(text string, width int) []string {
	width = max(width, 2) // a character has at most two cells
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= width { // a character has at most as many cells as bytes
			out = append(out, line)
			continue
		}
		row, cells := 0, 0 // the row's start and width
		blank := -1        // index after the row's last blank
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
