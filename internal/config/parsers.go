package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// parser stores a value in its field and returns its canonical form. Its error
// names the allowed values.
type parser func(value string) (string, error)

func number(field *int, low, high int) parser {
	return func(value string) (string, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return "", fmt.Errorf("a whole number from %d to %d", low, high)
		}
		*field = n
		return strconv.Itoa(n), nil
	}
}

func duration(field *time.Duration, low, high time.Duration) parser {
	return func(value string) (string, error) {
		d, err := time.ParseDuration(value)
		if err != nil || d < low || d > high {
			return "", fmt.Errorf("a duration from %v to %v, such as 1s or 500ms", low, high)
		}
		*field = d
		return d.String(), nil
	}
}

// between accepts a number from low to high. want names the allowed numbers.
func between(field *float64, low, high float64, want string) parser {
	return func(value string) (string, error) {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= low && f <= high) {
			return "", errors.New(want)
		}
		*field = f
		return strconv.FormatFloat(f, 'g', -1, 64), nil
	}
}

func fraction(field *float64) parser {
	return between(field, 0.05, 1, "a number from 0.05 to 1, such as 0.7")
}

// zeroOr accepts 0, or a number from low to high.
func zeroOr(field *float64, low, high float64, want string) parser {
	inRange := between(field, low, high, want)
	return func(value string) (string, error) {
		if f, err := strconv.ParseFloat(value, 64); err == nil && f == 0 {
			*field = 0
			return "0", nil
		}
		return inRange(value)
	}
}

// oneOf accepts the listed values in any case.
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

// learn also accepts "confidence", a rule of earlier versions that had no effect,
// as "off".
func learn(field *Learn) parser {
	known := oneOf(field, LearnNames, LearnOff)
	return func(value string) (string, error) {
		if strings.EqualFold(value, "confidence") {
			value = string(LearnOff)
		}
		return known(value)
	}
}

// bytes accepts a size in bytes or with a decimal unit.
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

// maxLine is the most bytes of a text setting.
const maxLine = 1000

// line accepts a text without control characters.
func line(field *string) parser {
	return func(value string) (string, error) {
		if len(value) > maxLine || strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("at most %d characters in one line", maxLine)
		}
		*field = value
		return value, nil
	}
}

// template accepts one line. "default" selects the built-in template.
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

// address accepts a database address without a password, which `strandline config`
// would print.
func address(field *string) parser {
	text := line(field)
	return func(value string) (string, error) {
		_, rest, url := strings.Cut(value, "://")
		host, _, _ := strings.Cut(rest, "/")
		user, _, hasUser := strings.Cut(host, "@")
		if strings.Contains(value, "password=") || url && hasUser && strings.Contains(user, ":") {
			return "", errors.New("an address without a password, which PGPASSWORD or ~/.pgpass give")
		}
		return text(value)
	}
}

// sslMode accepts PostgreSQL's modes, and true or false as older systems did.
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
			return "", errors.New("disable, prefer, require, verify-ca or verify-full")
		}
		*field = v
		return v, nil
	}
}

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
