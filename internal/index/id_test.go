package index_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// An ID decodes to its parts, and IDs sort by session, then by age.
func TestIDRoundTrip(t *testing.T) {
	kinds := append(archive.PassageKinds(), "of the future")
	rapid.Check(t, func(r *rapid.T) {
		session := rapid.Int64Range(1, 1<<33-2).Draw(r, "session")
		seq := rapid.Int64Range(0, 1<<26-2).Draw(r, "seq")
		agent := rapid.Bool().Draw(r, "agent")
		kind := rapid.SampledFrom(kinds).Draw(r, "kind")
		id := index.NewID(session, seq, agent, kind)
		want := int64(slices.Index(archive.PassageKinds(), kind) + 1) // 0 for an unknown kind
		if id.Session() != session || id.Agent() != agent || id.KindCode() != want {
			r.Fatalf("%d: session %d, agent %v, kind code %d, want %d", id, id.Session(), id.Agent(), id.KindCode(), want)
		}
		lo, hi := index.SessionRange(session)
		if int64(id) < lo || int64(id) > hi {
			r.Fatalf("%d is outside %d to %d", id, lo, hi)
		}
		if index.NewID(session, seq+1, false, "") <= id || index.NewID(session+1, 0, false, "") <= id {
			r.Fatalf("%d does not come before its successor", id)
		}
	})
}

// Stored IDs contain these codes: a change needs a migration.
func TestKindCodesAreFixed(t *testing.T) {
	for i, kind := range archive.PassageKinds() {
		if code := index.KindCode(kind); code != int64(i+1) {
			t.Errorf("%s has code %d, want %d", kind, code, i+1)
		}
	}
}
