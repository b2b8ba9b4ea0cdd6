// Package indextest is the conformance suite of stores: the same batches give the same rows
// and the same hits in every database.
package indextest

import (
	"context"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Store is the union of the interfaces that consumers of a store define.
type Store interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Apply(ctx context.Context, b archive.Batch) error
	ApplyAll(ctx context.Context, bs []archive.Batch) error
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Positions(ctx context.Context) (map[string]archive.Cursor, error)
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
	Counts(ctx context.Context, q archive.Query) (archive.Counts, error)
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
	Activity(ctx context.Context, f archive.SessionFilter) ([]archive.Activity, error)
	ToolCalls(ctx context.Context, f archive.SessionFilter) ([]archive.ToolCalls, error)
	PassageCount(ctx context.Context) (int, error)
	Projects(ctx context.Context) ([]archive.ProjectSummary, error)
	Integrity(ctx context.Context) error
	Read(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error
}

// Opener returns an empty store and closes it when the test ends.
type Opener func(t testing.TB) Store

// Run runs the suite. Every subtest opens its own stores.
func Run(t *testing.T, open Opener) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Opener)
	}{
		{"Apply/stores every field", testRoundTrip},
		{"Apply/replaces rows of the same place", testReplace},
		{"Apply/repeated in any way gives the same rows", testIdempotence},
		{"Apply/all or nothing", testAtomic},
		{"Apply/stale batch", testStale},
		{"Apply/dead turns stay dead", testDeadTurns},
		{"Apply/refuses an invalid session ID", testBadSession},
		{"Apply/ends with its context", testCanceled},
		{"Identity/first owner keeps it", testIdentities},
		{"Identity/thousands at once", testManyIdentities},
		{"Cursor/of an unknown session is zero", testCursorUnknown},
		{"Retire/renames all rows", testRetire},
		{"Retire/twice or unknown changes nothing", testRetireTwice},
		{"Retire/keeps hook summaries under the name", testRetireSummaries},
		{"Sessions/filters and order", testSessions},
		{"Sessions/not found", testSessionNotFound},
		{"Resolve", testResolve},
		{"Span/limits, order and lines", testSpans},
		{"Span/turns that a rewind abandoned", testRewound},
		{"Span/passages of kinds", testPassageKinds},
		{"Span/calls pending at a line", testPendingCalls},
		{"Span/passages at a line", testPassagesAtLine},
		{"Span/summaries at a line", testCompactionsAtLine},
		{"Span/unknown session has no rows", testUnknownSpan},
		{"Search/code-aware words", testSearchWords},
		{"Search/forms of a word", testSearchForms},
		{"Search/the passage before", testSearchNeighbours},
		{"Search/BM25", testSearchBM25},
		{"Search/filters", testSearchFilters},
		{"Search/order", testSearchOrder},
		{"Search/also", testSearchAlso},
		{"Search/must", testSearchMust},
		{"Search/without terms", testSearchEmpty},
		{"Search/changed text", testSearchReplaced},
		{"Search/copies are found with their owner", testSearchCopies},
		{"Search/sub-agents", testSearchAgents},
		{"Search/as of a line", testSearchBeforeLine},
		{"Search/indexed words", testWords},
		{"History/of a file", testHistory},
		{"Journal/summary before and after its compaction", testJournalSummary},
		{"Journal/long summary", testJournalLongSummary},
		{"Journal/any order gives the same rows", testJournalOrder},
		{"Journal/odd entries have no effect", testJournalOdd},
		{"Journal/injected texts", testJournalInjected},
		{"Journal/facts of a kind", testJournalFacts},
		{"Journal/accesses", testJournalAccesses},
		{"Journal/feedback", testJournalFeedback},
		{"Journal/summaries of segments", testJournalSegments},
		{"Journal/merged projects", testJournalMerge},
		{"Projects/a folder becomes a repository", testFolderBecomesRepository},
		{"Journal/cursor", testJournalCursor},
		{"Vectors/every passage once, newest first", testVectorsFill},
		{"Vectors/new and changed passages", testVectorsGrow},
		{"Vectors/two processes with the same work", testVectorsTwice},
		{"Vectors/several sets", testVectorsSets},
		{"Vectors/any order gives the same rows", testVectorsDump},
		{"Vectors/filters", testVectorsScope},
		{"Vectors/of hits", testVectorsOfHits},
		{"Totals", testTotals},
		{"Activity/and tool calls", testActivity},
		{"Integrity", testIntegrity},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}
