package compact

import "testing"

func TestIsAbout(t *testing.T) {
	tests := []struct {
		heading, subject string
		want             bool
	}{
		{"11. Docs (update roadmap-related learned docs)", "Phase 11: Learned docs updates", true},
		{"Phase 14: Update tests", "Phase 14: Update tests and regenerate reference docs", true},
		{"Step 12: Run CI Iteratively", "Run CI and fix any issues", true},
		{"Submit PR", "Submit PR", true},
		{"1. Core data model", "Phase 11: Learned docs updates", false},
		{"Update the reader", "Update the writer", false},
		{"Tests", "Update tests", false}, // one word is too little
		{"", "Submit PR", false},
		{"Context", "", false},
	}
	for _, tt := range tests {
		if got := newTitle(tt.heading).isAbout(newTitle(tt.subject)); got != tt.want {
			t.Errorf("isAbout(%q, %q) = %v", tt.heading, tt.subject, got)
		}
	}
}
