package app

import (
	"strandline/internal/app/maintenance"
	"strandline/internal/usage"
)

// Memory is how well the archive remembers, for scripts: shares from 0 to 1,
// null where nothing can be said, and their mean.
type Memory struct {
	Health   *float64 `json:"health"`
	Captured *float64 `json:"captured"`
	Indexed  *float64 `json:"indexed"`
	Embedded *float64 `json:"embedded"`
	Used     *float64 `json:"used"`
	// Measured counts the compactions that Used is of.
	Measured int `json:"measured_compactions"`
}

// NewMemory is the memory's health for scripts.
func NewMemory(h maintenance.HealthReport) Memory {
	m := Memory{
		Captured: shareOf(h.Captured), Indexed: shareOf(h.Indexed), Embedded: shareOf(h.Embedded), Used: shareOf(h.Used),
		Measured: h.Measured,
	}
	if mean, ok := h.Mean(); ok {
		m.Health = Rounded(mean)
	}
	return m
}

func shareOf(s *usage.Share) *float64 {
	v, ok := s.Value()
	if !ok {
		return nil
	}
	return Rounded(v)
}
