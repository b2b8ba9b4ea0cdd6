// Package storetest is the suite that every store has to pass: the same batches
// give the same rows and the same hits, whatever database lies below.
package indextest

import (
	"bytes"
	"context"
	"io"
	"testing"

	"strandline/internal/archive"
)

// Store is everything that the consumers of a store ask for, taken together.
type Store interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Apply(ctx context.Context, b archive.Batch) error
	ApplyAll(ctx context.Context, bs []archive.Batch) error
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Retire(ctx context.Context, session string, generation int) error
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	JournalCursor(ctx context.Context) ([]byte, error)

	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Session(ctx context.Context, id string) (archive.Session, error)
	Resolve(ctx context.Context, prefix string) (string, error)
	Turns(ctx context.Context, sp archive.Span) ([]archive.Turn, error)
	Rewound(ctx context.Context, sp archive.Span) ([]int, error)
	Steps(ctx context.Context, sp archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, sp archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, sp archive.PassageSpan) ([]archive.Passage, error)
	Files(ctx context.Context, sp archive.Span) ([]archive.FileTouch, error)
	Tasks(ctx context.Context, sp archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, sp archive.Span) ([]archive.Compaction, error)
	HookSummaries(ctx context.Context, session string) ([]archive.HookSummary, error)
	Injected(ctx context.Context, session string) ([]archive.Injection, error)
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
	Accesses(ctx context.Context, session string) ([]archive.Access, error)
	Recorded(ctx context.Context, ids []string) (map[string]bool, error)
	Feedback(ctx context.Context) (archive.Feedback, error)
	Search(ctx context.Context, q archive.Query) ([]archive.Hit, error)
	WordCounts(ctx context.Context, words []string) ([]int, error)
	WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error)
	VectorSets(ctx context.Context) ([]archive.VectorSet, error)
	Unembedded(ctx context.Context, embedder string, dim, limit int) (archive.Unembedded, error)
	PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error
	Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error
	VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (map[int64]archive.VectorRow, error)
	VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error)
	HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error)
	DropVectors(ctx context.Context, embedder string) error
	Embedded(ctx context.Context) (part, of int64, err error)
	Totals(ctx context.Context) (archive.Totals, error)
	PassageCount(ctx context.Context) (int, error)
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Integrity(ctx context.Context) error
	// Dump writes every row by natural keys, in an order of its own.
	Dump(ctx context.Context, w io.Writer) error
}

// Opener returns an empty store that is closed when the test ends.
type Opener func(t testing.TB) Store

// Run runs the suite. Every subtest opens stores of its own.
func Run(t *testing.T, open Opener) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Opener)
	}{
		{"Apply/keeps every field", testRoundTrip},
		{"Apply/replaces rows of the same place", testReplace},
		{"Apply/repeated in any way gives the same rows", testIdempotence},
		{"Apply/all or nothing", testAtomic},
		{"Apply/out of turn", testStale},
		{"Apply/dead turns stay dead", testDeadTurns},
		{"Apply/refuses what is no session id", testBadSession},
		{"Apply/ends with its context", testCanceled},
		{"Identity/first owner keeps it", testIdentities},
		{"Identity/thousands at once", testManyIdentities},
		{"Cursor/of an unknown session is zero", testCursorUnknown},
		{"Retire/renames all rows", testRetire},
		{"Retire/twice or unknown changes nothing", testRetireTwice},
		{"Retire/keeps what hooks told under the name", testRetireSummaries},
		{"Sessions/filters and order", testSessions},
		{"Sessions/not found", testSessionNotFound},
		{"Resolve", testResolve},
		{"Span/limits, order and lines", testSpans},
		{"Span/turns that a rewind left behind", testRewound},
		{"Span/passages of kinds", testPassageKinds},
		{"Span/calls pending at a line", testPendingCalls},
		{"Span/passages at a line", testPassagesAtLine},
		{"Span/summaries at a line", testCompactionsAtLine},
		{"Span/unknown session has no rows", testUnknownSpan},
		{"Search/code-aware words", testSearchWords},
		{"Search/forms of a word", testSearchForms},
		{"Search/the passage before", testSearchNeighbours},
		{"Search/what words are worth", testSearchWorth},
		{"Search/filters", testSearchFilters},
		{"Search/order", testSearchOrder},
		{"Search/must", testSearchMust},
		{"Search/nothing to look for", testSearchEmpty},
		{"Search/text that changed", testSearchReplaced},
		{"Search/copies are found with their owner", testSearchCopies},
		{"Search/sub-agents", testSearchAgents},
		{"Search/as of a line", testSearchBeforeLine},
		{"Search/words that there are", testWords},
		{"History/of a file", testHistory},
		{"Journal/summary before and after its compaction", testJournalSummary},
		{"Journal/long summary", testJournalLongSummary},
		{"Journal/any order gives the same rows", testJournalOrder},
		{"Journal/odd entries have no effect", testJournalOdd},
		{"Journal/what was injected", testJournalInjected},
		{"Journal/facts of a kind", testJournalFacts},
		{"Journal/accesses one by one", testJournalAccesses},
		{"Journal/what was used", testJournalFeedback},
		{"Journal/summaries of segments", testJournalSegments},
		{"Journal/merged projects", testJournalMerge},
		{"Journal/cursor", testJournalCursor},
		{"Vectors/every passage once, the newest first", testVectorsFill},
		{"Vectors/passages that come and change", testVectorsGrow},
		{"Vectors/two processes at the same work", testVectorsTwice},
		{"Vectors/sets side by side", testVectorsSets},
		{"Vectors/any order gives the same rows", testVectorsDump},
		{"Vectors/filters", testVectorsScope},
		{"Vectors/of what a search finds", testVectorsOfHits},
		{"Totals", testTotals},
		{"Integrity", testIntegrity},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// Dump returns the store's rows as text.
func Dump(t testing.TB, s Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Dump(t.Context(), &b); err != nil {
		t.Fatalf("Dump: %v", err)
	}
	return b.String()
}
