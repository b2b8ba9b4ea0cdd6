package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// parser checks the text of a setting, stores its value in a field of Config and
// returns its canonical form. On an error the field is unchanged. The error's text
// lists the allowed values and completes the sentence "allowed is ...".
type parser func(value string) (string, error)

// inRange accepts a value from low to high. want is the error's text, a format for both.
func inRange[T cmp.Ordered](field *T, parse func(string) (T, error), low, high T, want string) parser {
	return func(value string) (string, error) {
		v, err := parse(value)
		if err != nil || !(v >= low && v <= high) { // also if v is not a number
			refused := rangeError{error: fmt.Errorf(want, low, high)}
			if n := min(max(v, low), high); err == nil && n >= low {
				refused.nearest = fmt.Sprint(n)
			}
			return "", refused
		}
		*field = v
		return fmt.Sprint(v), nil
	}
}

// rangeError refuses a value. nearest is the nearest one that is accepted, "" if the value
// is not a number.
type rangeError struct {
	error
	nearest string
}

// number accepts a whole number from low to high.
func number(field *int, low, high int) parser {
	return inRange(field, strconv.Atoi, low, high, "a whole number from %d to %d")
}

// duration accepts the format of time.ParseDuration, from low to high.
func duration(field *time.Duration, low, high time.Duration) parser {
	return inRange(field, time.ParseDuration, low, high, "a duration from %v to %v, such as 1s or 500ms")
}

// between accepts a decimal number from low to high.
func between(field *float64, low, high float64, want string) parser {
	return inRange(field, parseFloat, low, high, want)
}

func parseFloat(value string) (float64, error) { return strconv.ParseFloat(value, 64) }

// fraction accepts a share from 0.05 to 1.
func fraction(field *float64) parser {
	return between(field, 0.05, 1, "a number from %v to %v, such as 0.7")
}

// zeroOr accepts 0, or a number from low to high.
func zeroOr(field *float64, low, high float64, want string) parser {
	other := between(field, low, high, want)
	return func(value string) (string, error) {
		if f, err := parseFloat(value); err == nil && f == 0 {
			*field = 0
			return "0", nil
		}
		return other(value)
	}
}

// oneOf accepts the listed values, of which there are at least two, in upper or lower
// case. The values are lower case.
func oneOf[T ~string](field *T, values ...T) parser {
	return func(value string) (string, error) {
		v := T(strings.ToLower(value))
		if slices.Contains(values, v) {
			*field = v
			return string(v), nil
		}
		names := strings.Trim(fmt.Sprint(values), "[]")
		last := strings.LastIndexByte(names, ' ')
		return "", errors.New(strings.ReplaceAll(names[:last], " ", ", ") + " or" + names[last:])
	}
}

// learn accepts the learning modes. "confidence", a mode of earlier versions that had
// no effect, means "off".
func learn(field *Learn) parser {
	known := oneOf(field, LearnNames, LearnOff)
	return func(value string) (string, error) {
		if strings.EqualFold(value, "confidence") {
			value = string(LearnOff)
		}
		return known(value)
	}
}

// bytes accepts a size from 0 to 1000TB with a decimal unit: B (the default), KB, MB,
// GB or TB.
func bytes(field *int64) parser {
	return func(value string) (string, error) {
		text := strings.ToUpper(strings.TrimSpace(value))
		digits := strings.TrimRight(text, "KMGTB")
		size := map[string]float64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[text[len(digits):]]
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || size == 0 || !(n >= 0 && n*size <= 1e15) {
			return "", errors.New("a number of bytes, such as 500MB or 2GB")
		}
		*field = int64(n * size)
		return strconv.FormatInt(*field, 10), nil
	}
}

// maxLine is the maximum length of a text setting in bytes.
const maxLine = 1000

// line accepts at most maxLine bytes without control characters.
func line(field *string) parser {
	return func(value string) (string, error) {
		if len(value) > maxLine || strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("one line of at most %d bytes, without control characters", maxLine)
		}
		*field = value
		return value, nil
	}
}

// template accepts one line, which may contain colour sequences. "default" selects
// the built-in template and is stored as "".
func template(field *string) parser {
	return func(value string) (string, error) {
		if len(value) > maxLine || strings.ContainsAny(value, "\r\n\x00") {
			return "", fmt.Errorf("one line of at most %d bytes, or default", maxLine)
		}
		*field = value
		if value == "default" {
			*field = ""
		}
		return value, nil
	}
}

// address accepts a database address, as a URL or as key=value pairs. It rejects a
// password because `strandline config` prints settings.
func address(field *string) parser {
	inner := line(field)
	return func(value string) (string, error) {
		_, rest, isURL := strings.Cut(value, "://")
		authority, _, _ := strings.Cut(rest, "/")
		user, _, hasUser := strings.Cut(authority, "@")
		if strings.Contains(value, "password=") || isURL && hasUser && strings.Contains(user, ":") {
			return "", errors.New("an address without a password; set the password in PGPASSWORD or ~/.pgpass")
		}
		return inner(value)
	}
}

// sslMode accepts the values of libpq's sslmode. It also accepts booleans, as the
// setting RUVECTOR_SSL does: true means "require", false "disable".
func sslMode(field *string) parser {
	return func(value string) (string, error) {
		v := strings.ToLower(value)
		switch v {
		case "true", "1", "on", "yes":
			v = "require"
		case "false", "0", "off", "no":
			v = "disable"
		case "", "disable", "allow", "prefer", "require", "verify-ca", "verify-full":
		default:
			return "", errors.New("disable, allow, prefer, require, verify-ca or verify-full")
		}
		*field = v
		return v, nil
	}
}

// toggle accepts true, 1, on, yes, false, 0, off or no, in upper or lower case.
func toggle(field *bool) parser {
	return func(value string) (string, error) {
		switch strings.ToLower(value) {
		case "true", "1", "on", "yes":
			*field = true
		case "false", "0", "off", "no":
			*field = false
		default:
			return "", errors.New("true or false")
		}
		return strconv.FormatBool(*field), nil
	}
}
