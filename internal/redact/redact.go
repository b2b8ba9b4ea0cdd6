// Package redact replaces secrets in text by placeholders with their kind and a
// short keyed hash, such as [redacted:aws-access-key:3f9a1c]. Equal secrets get
// equal placeholders, which reveal nothing about them.
//
// It finds tokens with a known prefix, values of a known format (JWT, private
// keys, credentials in URLs and headers) and values whose name implies a secret.
// Matching is written by hand and takes one pass, because a hook has no time to
// compile the usual regular expressions.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"strandline/internal/text"
)

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	key []byte
}

// finding is a secret in a text.
type finding struct {
	kind       string // such as "github-token"
	start, end int    // byte offsets
}

// New returns a redactor that hashes with key, which may have any length. Without
// a key, anyone could try out the hashes.
func New(key []byte) *Redactor { return &Redactor{key: key} }

// maxPasses limits the passes of String. One pass suffices unless a placeholder
// creates a new word border next to it.
const maxPasses = 8

// String returns s with each secret replaced. Without a secret it returns s
// without allocating. It is idempotent.
func (r *Redactor) String(s string) string {
	s = Private(s)
	for range maxPasses {
		found := scan(s)
		if len(found) == 0 {
			return s
		}
		var b strings.Builder
		b.Grow(len(s) + 8*len(found))
		done := 0
		for _, f := range found {
			b.WriteString(s[done:f.start])
			b.WriteString(r.placeholder(f.kind, s[f.start:f.end]))
			done = f.end
		}
		b.WriteString(s[done:])
		s = b.String()
	}
	return s
}

// Rules is the version of the rules. It grows when they find more, so that an index
// that was written with older rules is written again by a maintenance run. 4: the titles
// of sessions are the client's, a plan's heading or the first instruction.
const Rules = 4

const privateOpen, privateClose, privateMark = "<private>", "</private>", "[private]"

// Private returns s with every <private>…</private> replaced by [private]: text that
// the user wants kept out of the index and of everything that leaves. A tag without
// its end is text about tags.
func Private(s string) string {
	from := strings.Index(s, privateOpen)
	if from < 0 {
		return s
	}
	var b strings.Builder
	for from >= 0 {
		end := strings.Index(s[from:], privateClose)
		if end < 0 {
			break
		}
		b.WriteString(s[:from])
		b.WriteString(privateMark)
		s = s[from+end+len(privateClose):]
		from = strings.Index(s, privateOpen)
	}
	b.WriteString(s)
	return b.String()
}

// Finding is a secret in a text.
type Finding struct {
	Kind       string // such as "github-token"
	Start, End int    // byte offsets
}

// Find returns the secrets that String replaces, in order.
func Find(s string) (list []Finding) {
	for _, f := range scan(s) {
		list = append(list, Finding{f.kind, f.start, f.end})
	}
	return list
}

// The parts of a placeholder: [redacted:<kind>:<hash>].
const (
	opening = "[redacted:"
	hashLen = 6 // hex digits: enough to distinguish secrets, too few to recover them
	maxKind = 24
)

func (r *Redactor) placeholder(kind, secret string) string {
	if kind == kindPrivateKey {
		secret = keyMaterial(secret)
	}
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(secret))
	return opening + kind + ":" + hex.EncodeToString(h.Sum(nil)[:hashLen/2]) + "]"
}

// placeholderEnd returns the offset after the placeholder at from, or -1 if there
// is none.
func placeholderEnd(s string, from int) int {
	if !strings.HasPrefix(s[from:], opening) {
		return -1
	}
	i := from + len(opening)
	kindEnd := i + run(s[i:min(len(s), i+maxKind)], func(c byte) bool { return text.IsLower(c) || text.IsDigit(c) || c == '-' })
	end := kindEnd + 1 + hashLen + 1
	if kindEnd == i || end > len(s) || s[kindEnd] != ':' || s[end-1] != ']' || run(s[kindEnd+1:end-1], isHex) != hashLen {
		return -1
	}
	return end
}
