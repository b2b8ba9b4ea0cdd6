package capture

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Records signs the records that Strandline injects into contexts and recognizes them in
// transcripts. A nil *Records signs and recognizes none. It is safe for concurrent use.
type Records struct {
	// Key returns the key of the signatures, nil if there is none. It is called at most
	// once.
	Key func() []byte
	// Entries returns the whole journal. It is called at most once, and only for a record
	// that has no valid signature: one of an earlier version, of another computer, or of
	// a lost key. It stops at the deadline Until, unless that is zero.
	Entries func(ctx context.Context) ([]archive.JournalEntry, error)
	Until   time.Time

	keyOnce, notedOnce sync.Once
	key                []byte
	sums               map[string]bool  // of records that the journal identifies
	sizes              map[int][]string // sessions of the records that it does not, by size
}

// Sign replaces the marks of the records in s, which Strandline made, by signatures.
func (x *Records) Sign(s string) string { return text.Sign(x.signingKey(), s) }

func (x *Records) signingKey() []byte {
	if x == nil || x.Key == nil {
		return nil
	}
	x.keyOnce.Do(func() { x.key = x.Key() })
	return x.key
}

// Owns implements transcript.Owns: the record has a valid signature, or the journal notes
// that exactly this record was injected. Of records of earlier versions, which
// have a checksum, the journal knows the size and the session.
func (x *Records) Owns(session string, r text.Record) bool {
	if x == nil {
		return false
	}
	if r.Signed(x.signingKey()) {
		return true
	}
	x.notedOnce.Do(x.readJournal)
	if !r.Old() {
		return x.sums[r.Sum()]
	}
	if !r.Intact() {
		return false
	}
	title, _, _ := strings.Cut(r.Text, "\n")
	for _, noted := range x.sizes[text.Units(r.Text)] {
		// A fork copies the record, whose title names the session that it was made for.
		if noted == session || strings.Contains(title, "session "+archive.ShortID(noted)) {
			return true
		}
	}
	return false
}

// readJournal reads which records were injected. Without the journal there are none.
func (x *Records) readJournal() {
	x.sums, x.sizes = map[string]bool{}, map[int][]string{}
	if x.Entries == nil {
		return
	}
	ctx := context.Background()
	if !x.Until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, x.Until)
		defer cancel()
	}
	entries, _ := x.Entries(ctx) // the readable ones
	for _, e := range entries {
		var f archive.InjectedFact
		if e.Kind != archive.JournalInjected || json.Unmarshal(e.Data, &f) != nil {
			continue
		}
		for sum := range strings.FieldsSeq(f.Nonce) {
			x.sums[sum] = true
		}
		if f.Nonce == "" {
			x.sizes[f.Chars] = append(x.sizes[f.Chars], e.Session)
		}
	}
}

// SumOf returns the identification of the records in an injected text for the journal,
// separated by spaces; "" if it holds none.
func SumOf(injected string) string {
	return strings.Join(archive.Convert(text.Records(injected), text.Record.Sum), " ")
}
