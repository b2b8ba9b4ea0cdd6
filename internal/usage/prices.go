package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// PricesDate is the date of the built-in prices.
const PricesDate = "2026-10-24"

// longPrompt marks the price of a model's responses to prompts above archive.LongPrompt.
const longPrompt = " long"

// builtIn returns the API's list prices of PricesDate. An entry with a zero cache write
// costs 1.25 times its input there, the price of writes for five minutes.
func builtIn() map[string]config.Price {
	all := map[string]config.Price{
		"haiku-5-5":              {Input: 0.10, Output: 0.50, CacheRead: 0.01},
		"haiku-5-5" + longPrompt: {Input: 0.50, Output: 2.50, CacheRead: 0.05},
		"3-haiku":                {Input: 0.25, Output: 1.25, CacheRead: 0.03, CacheWrite: 0.30},
	}
	for _, tier := range []struct {
		input, read float64
		names       string
	}{
		{15, 1.50, "3-opus opus-4 opus-4-0 opus-4-1"},
		{10, 1, "fable-5 mythos-5"},
		{10, 0.25, "fable-5-1 mythos-5-1"},
		{5, 0.50, "opus-4-5 opus-4-6 opus-4-7 opus-4-8 opus-5"},
		{4, 0.20, "opus-5-5"},
		{3, 0.30, "3-5-sonnet 3-7-sonnet sonnet-4 sonnet-4-0 sonnet-4-5 sonnet-4-6"},
		{2, 0.20, "sonnet-5"},
		{2, 0.10, "sonnet-5-5"},
		{1, 0.10, "haiku-4-5"},
		{0.8, 0.08, "3-5-haiku"},
	} {
		for name := range strings.FieldsSeq(tier.names) {
			all[name] = config.Price{Input: tier.input, Output: 5 * tier.input, CacheRead: tier.read}
		}
	}
	return all
}

// Prices knows what models cost. The zero value knows none.
type Prices struct {
	of    map[string]config.Price
	names []string // longest first
}

// NewPrices returns the built-in prices and those of the settings, which take precedence.
func NewPrices(own map[string]config.Price) Prices {
	p := Prices{of: builtIn()}
	for name, price := range own {
		delete(p.of, name+longPrompt)
		p.of[name] = price
	}
	p.names = slices.SortedFunc(maps.Keys(p.of), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return p
}

// USD returns the cost of a model's responses at list prices; false if the model's price is
// unknown. long is Activity.Long.
func (p Prices) USD(model string, long bool, u archive.Usage) (usd float64, ok bool) {
	i := slices.IndexFunc(p.names, func(name string) bool { return isModel(model, name) })
	if i < 0 {
		return 0, u == archive.Usage{}
	}
	price := p.of[p.names[i]]
	if higher, ok := p.of[p.names[i]+longPrompt]; ok && long {
		price = higher
	}
	if price.CacheWrite == 0 {
		price.CacheWrite = 1.25 * price.Input
	}
	return (float64(u.Input)*price.Input + float64(u.Output)*price.Output +
		float64(u.CacheRead)*price.CacheRead + float64(u.CacheWrite)*price.CacheWrite) / 1e6, true
}

// isModel reports whether a model's ID has a name, followed at most by a date or another
// suffix: "opus-5" is not "claude-opus-5-5".
func isModel(model, name string) bool {
	_, rest, found := strings.Cut(model, name)
	if !found || startsWithDigit(rest) {
		return false
	}
	version, ok := strings.CutPrefix(rest, "-")
	digits := len(version) - len(strings.TrimLeft(version, "0123456789"))
	return !ok || digits == 0 || digits >= len("20260101")
}
