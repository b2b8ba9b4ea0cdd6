// Package redact replaces secrets in text by placeholders that keep their kind
// and a short keyed hash, such as [redacted:aws-access-key:3f9a1c], so that the
// same secret still looks the same and nothing can be learned about it.
//
// It looks for tokens with a known beginning, for values of a known shape (JWT,
// private keys, credentials in URLs and headers) and for values whose name says
// that they are secret. Everything is matched by hand in one pass, because the
// hook that calls it lives for milliseconds and compiling the usual set of
// regular expressions takes longer than that.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	key []byte
}

// Finding is a secret found in a text.
type Finding struct {
	Kind  string // "github-token", "private-key" …
	Start int    // byte offset of the secret
	End   int    // behind it
}

// New returns a redactor whose placeholders are hashed with key. Any length
// will do; without a key the hashes could be tried out by anyone.
func New(key []byte) *Redactor { return &Redactor{key: key} }

// maxPasses bounds the passes that String makes. One finds everything unless a
// placeholder gives its neighbour a new border; such chains are short.
const maxPasses = 8

// String returns s with each secret replaced. Where nothing is found it returns
// s itself without allocating. Redacting twice is redacting once.
func (r *Redactor) String(s string) string {
	for range maxPasses {
		found := scan(s)
		if len(found) == 0 {
			return s
		}
		s = r.replace(s, found)
	}
	return s
}

// Findings lists the secrets in s in order, without overlap. Placeholders are
// none.
func (r *Redactor) Findings(s string) []Finding { return scan(s) }

func (r *Redactor) replace(s string, found []Finding) string {
	var b strings.Builder
	b.Grow(len(s) + 8*len(found))
	done := 0
	for _, f := range found {
		b.WriteString(s[done:f.Start])
		b.WriteString(r.placeholder(f.Kind, s[f.Start:f.End]))
		done = f.End
	}
	b.WriteString(s[done:])
	return b.String()
}

// The parts of a placeholder: [redacted:<kind>:<hash>].
const (
	opening = "[redacted:"
	hashLen = 6 // hex digits: enough to tell apart, too few to search with
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

// placeholderEnd returns the offset behind the placeholder that begins at from,
// or -1 when there is none.
func placeholderEnd(s string, from int) int {
	if !strings.HasPrefix(s[from:], opening) {
		return -1
	}
	i := from + len(opening)
	kindEnd := i + run(s[i:min(len(s), i+maxKind)], func(c byte) bool { return isLower(c) || isDigit(c) || c == '-' })
	end := kindEnd + 1 + hashLen + 1
	if kindEnd == i || end > len(s) || s[kindEnd] != ':' || s[end-1] != ']' {
		return -1
	}
	if run(s[kindEnd+1:end-1], isHex) != hashLen {
		return -1
	}
	return end
}
