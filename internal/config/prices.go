package config

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Price is the price of a model, in USD per million tokens. A CacheWrite of 0 is 1.25 times
// Input.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// prices accepts a list such as "opus-5-5=4/20/0.2, my-model=1/2": for each model the price
// of its input, output, and cache reads and writes as far as given.
func prices(field *map[string]Price) parser {
	return func(value string) (string, error) {
		all := map[string]Price{}
		for entry := range strings.SplitSeq(value, ",") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			name, figures, _ := strings.Cut(entry, "=")
			price, ok := parsePrice(figures)
			if name = strings.TrimSpace(name); !ok || name == "" {
				return "", errors.New("a list of MODEL=INPUT/OUTPUT[/CACHE_READ[/CACHE_WRITE]] in USD per million tokens, such as opus-5-5=4/20/0.2")
			}
			all[name] = price
		}
		*field = all
		var b strings.Builder
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(name + "=" + all[name].String())
		}
		return b.String(), nil
	}
}

func parsePrice(figures string) (p Price, ok bool) {
	parts := strings.Split(figures, "/")
	fields := []*float64{&p.Input, &p.Output, &p.CacheRead, &p.CacheWrite}
	if len(parts) < 2 || len(parts) > len(fields) {
		return p, false
	}
	for i, part := range parts {
		v, err := parseFloat(strings.TrimSpace(part))
		if err != nil || !(v >= 0 && v <= 1e6) {
			return p, false
		}
		*fields[i] = v
	}
	return p, true
}

// String returns the price as the setting has it.
func (p Price) String() string {
	var parts []string
	for _, v := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
		parts = append(parts, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return strings.Join(parts, "/")
}
