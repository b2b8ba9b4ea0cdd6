package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Neutralize replaces the equals signs of anything similar to a record's marker by
// dashes, without changing the number of UTF-16 units. Records is stricter, but a model
// may read as a marker what has another case, other blanks, invisible characters, or
// letters and signs that look alike. Its cost is linear in s.
func Neutralize(s string) string {
	var b strings.Builder
	kept := 0
	for from := 0; from < len(s); {
		if c := s[from]; c < utf8.RuneSelf && c != '=' {
			from++
			continue
		}
		signs, end := signRun(s[from:])
		if end += from; signs > 1 && isMarkerText(s[end:]) {
			b.WriteString(s[kept:from])
			b.WriteString(strings.Map(signToDash, s[from:end]))
			kept = end
		}
		if _, size := utf8.DecodeRuneInString(s[from:]); signs == 0 {
			end = from + size
		}
		from = end
	}
	if kept == 0 {
		return s
	}
	return b.String() + s[kept:]
}

// signRun returns the number of signs at the start of s, and the length of s up to the
// first character that is neither a sign nor ignored.
func signRun(s string) (signs, end int) {
	for i, r := range s {
		switch {
		case isSign(r):
			signs++
		case signs == 0 || !isIgnored(r):
			return signs, i
		}
	}
	return signs, len(s)
}

// isMarkerText reports whether s begins like the words of a marker.
func isMarkerText(s string) bool {
	const name, end = "STRANDLINE", "END"
	var word [len(end + name)]byte // the first letters
	n := 0
	for _, r := range s {
		if letter := letterOf(r); letter != 0 {
			word[n] = letter
			if n++; n == len(word) {
				break
			}
		} else if !isIgnored(r) && !strings.ContainsRune("-_.*`:#~", r) {
			break
		}
	}
	folded := strings.ReplaceAll(name, "L", "I") // l, i and 1 look alike
	return strings.HasPrefix(strings.TrimPrefix(string(word[:n]), end), folded)
}

// isSign reports whether r looks like an equals sign. All are single UTF-16 units.
func isSign(r rune) bool {
	switch r {
	case '=', '＝', '﹦', '═', '꞊', '゠', '⹀', '≡', '᐀', '〓', '﹍', '⩵', '⩶', '⚌', '☰', '₌', '⁼':
		return true
	}
	return false
}

func signToDash(r rune) rune {
	if isSign(r) {
		return '-'
	}
	return r
}

// isIgnored reports whether r is a blank within a line, or invisible.
func isIgnored(r rune) bool {
	switch {
	case r == ' ', r == '\t':
		return true
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\n' && r != '\r' || r == 0x7f
	case r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0: // blank letters
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Zs, unicode.Cc)
}

// letterOf returns the capital letter of a marker that r looks like, with I for L; 0 if
// there is none.
func letterOf(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z':
		r -= 'a' - 'A'
	case r >= 0xff21 && r <= 0xff5a: // full width
		r = 'A' + (r-0xff21)%32
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical
		r = 'A' + (r-0x1d400)%26
	case r >= 0x24b6 && r <= 0x24e9: // in circles
		r = 'A' + (r-0x24b6)%26
	case r >= 0x1f130 && r <= 0x1f189: // in squares and circles
		r = 'A' + (r-0x1f130)%32
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators
		r = 'A' + r - 0x1f1e6
	}
	if r == 'L' {
		return 'I'
	}
	if r >= 'A' && r <= 'Z' {
		return byte(r)
	}
	for _, alike := range [...]string{
		"A4@АаΑαᴀꓮᎪÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎ", "DԁᴅꓓᎠÐðĎďĐđ", "E3€ЕеΕεᴇꓰᎬÈÉÊËèéêëĒēĔĕĖėĘęĚěЁё",
		"I1|!ІіΙιɪꓲӀӏⅠⅰÌÍÎÏìíîïĨĩĪīĬĭĮįİıʟꓡᏞⅬⅼĹĺĻļĽľŁł", "NΝɴꓠÑñŃńŅņŇň", "RʀᎡᏒꓣŔŕŖŗŘř",
		"S5$ЅѕՏꓢꜱᏚŚśŜŝŞşŠšȘș", "TТтΤτᴛꓔᎢŢţŤťŦŧȚț",
	} {
		if strings.ContainsRune(alike, r) {
			return alike[0]
		}
	}
	return 0
}
