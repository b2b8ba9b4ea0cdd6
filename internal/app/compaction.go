package app

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// CompactionAccount is a compaction with what was kept, restored and lost of what the
// session used afterwards.
type CompactionAccount struct {
	Compaction
	KeptTerms     []NeededTerm `json:"kept_terms"`     // in the summary or the replacement conversation
	RestoredTerms []NeededTerm `json:"restored_terms"` // only in the restored context
	LostTerms     []NeededTerm `json:"lost_terms"`     // in neither
	Counts        [3]int       `json:"counts"`         // of the terms: kept, restored, lost; the lists hold the first ones
	Summary       string       `json:"summary"`
	Context       string       `json:"context"` // the restored context, or what would have been restored
}

// NeededTerm is a name, path or number that the session used again after a compaction.
type NeededTerm struct {
	Text   string  `json:"text"`
	Weight float64 `json:"weight"`          // the rarer before the compaction, the higher
	Known  string  `json:"known,omitempty"` // handle of the last place before the compaction
	Used   string  `json:"used"`            // handle of the first place after it
}

// maxTerms is the maximal number of terms in a list of an account.
const maxTerms = 100

// Compaction returns the account of a session's compaction; index counts from 0.
func (a *App) Compaction(ctx context.Context, session string, index int) (CompactionAccount, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (CompactionAccount, error) {
		list, err := x.Index.Compactions(ctx, archive.Span{Session: id})
		if err != nil {
			return CompactionAccount{}, err
		}
		if index < 0 || index >= len(list) {
			return CompactionAccount{}, archive.NotFound(fmt.Sprintf("session %s has no compaction %d", archive.ShortID(id), index), fmt.Sprintf("it has %d", len(list)))
		}
		c, err := compact.Explain(ctx, x.Index, list[index], x.Config.Restore.Budget, rebuildArchived(x))
		return CompactionAccount{
			Compaction: newCompaction(c.Outcome), KeptTerms: neededTerms(c.Kept), RestoredTerms: neededTerms(c.Restored), LostTerms: neededTerms(c.Lost),
			Counts: [3]int{len(c.Kept), len(c.Restored), len(c.Lost)}, Summary: c.Summary, Context: c.Context,
		}, err
	})
}

func neededTerms(list []compact.Term) []NeededTerm {
	return archive.Convert(list[:min(len(list), maxTerms)], func(t compact.Term) NeededTerm {
		out := NeededTerm{Text: t.Text, Weight: t.Weight, Used: t.Used.Handle()}
		if t.Known != nil {
			out.Known = t.Known.Handle()
		}
		return out
	})
}
