package redact

// Findings is Find.
func Findings(s string) []Finding { return Find(s) }

// Calls returns how many matchers a scan of s may call.
func Calls(s string) float64 {
	x, calls := triggerIndex(), 0
	for i := 1; i < len(s); i++ {
		calls += len(x.buckets[x.bucket[uint16(s[i-1])<<8|uint16(s[i])]])
	}
	return float64(calls)
}
