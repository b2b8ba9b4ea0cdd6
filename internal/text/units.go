// Package text holds the text functions that several packages share: counting
// and truncating in UTF-16 units, bytes, tokens and terminal columns; reading JSON
// of which only some fields are known; escaping for a terminal; and the fence
// around text that is put into a model's context.
package text

import (
	"strings"
	"unicode/utf8"
)

const ellipsis = "…" // one UTF-16 unit

// Units returns the number of UTF-16 code units of s, in which the client
// measures its limits: one for é, two for most emoji. An invalid byte counts as
// one, for the replacement character that it becomes in JSON.
func Units(s string) int {
	n := asciiPrefix(s) // usually all of it
	for _, r := range s[n:] {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// asciiPrefix returns the length of the ASCII prefix of s in bytes.
func asciiPrefix(s string) int {
	const high = 0x8080808080808080
	n := 0
	for ; n+8 <= len(s); n += 8 {
		if eightBytes(s[n:])&high != 0 {
			break
		}
	}
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// eightBytes returns the first eight bytes of s, the first one lowest. The compiler
// makes one load of it.
func eightBytes(s string) uint64 {
	p := s[:8]
	return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
}

// Truncate shortens s to at most n UTF-16 units, ellipsis included, without
// splitting a character. It returns s unchanged if it fits and "" if n < 1.
func Truncate(s string, n int) string {
	if len(s) <= n { // never more units than bytes
		return s
	}
	if n <= 0 {
		return ""
	}
	plain := 0
	for plain <= n && s[plain] < utf8.RuneSelf {
		plain++
	}
	if plain > n { // ASCII up to the limit
		return strings.TrimRight(s[:n-1], " \t\r\n") + ellipsis
	}
	end, units := 0, 0 // s[:end] fits beside the ellipsis
	for i, r := range s {
		units += unitsOf(r)
		if units <= n-1 {
			_, size := utf8.DecodeRuneInString(s[i:])
			end = i + size
		}
		if units > n {
			return strings.TrimRight(s[:end], " \t\r\n") + ellipsis
		}
	}
	return s
}

// Seven bytes of ASCII are about two tokens: 3.5 characters each, measured on
// sessions with known usage.
const (
	asciiTokens = 2
	asciiBytes  = 7
)

// Tokens estimates the tokens of s: one for 3.5 ASCII characters, one for each
// other character.
func Tokens(s string) int {
	other, bytes := 0, 0
	for i := asciiPrefix(s); i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		other++
		bytes += size
		i += size
	}
	return other + ((len(s)-bytes)*asciiTokens+asciiBytes-1)/asciiBytes
}

// TokenChars estimates the number of characters in n tokens of ASCII text.
func TokenChars(n int) int { return n * asciiBytes / asciiTokens }

// TokenPrefix returns the longest prefix of s that takes at most about n tokens.
func TokenPrefix(s string, n int) string {
	if Tokens(s) <= n {
		return s
	}
	spent := 0 // in sevenths of a token
	for i, r := range s {
		spent += asciiTokens
		if r >= utf8.RuneSelf {
			spent += asciiBytes - asciiTokens
		}
		if spent > n*asciiBytes {
			return s[:i]
		}
	}
	return s
}
