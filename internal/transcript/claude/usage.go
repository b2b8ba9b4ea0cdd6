package claude

import "strandline/internal/archive"

// LastUsage returns the usage and the model of the last response of the main conversation
// in whole or torn lines of a transcript. It is zero if none follows the last compaction;
// compacted reports whether there is one.
func LastUsage(chunk []byte) (u archive.Usage, model string, compacted bool) {
	s := scanAll(chunk, 0)
	for i := range s.rows {
		switch row := &s.rows[i]; {
		case row.subtype == subtypeBoundary:
			u, model, compacted = archive.Usage{}, "", true
		case row.kind == typeAssistant && !row.sidechain && !row.apiError && row.usage.Context() > 0:
			u, model = row.usage, string(row.model)
		}
	}
	return u, model, compacted
}
