package archive_test

import (
	"testing"

	"strandline/internal/archive"
)

func TestAgentCall(t *testing.T) {
	for _, tt := range []struct{ line, label, agent, about string }{
		{"Task Explore · Find the modules · Look through web/ · all of it", "Task", "Explore", "Find the modules"},
		{"Agent backend-dev · Read the API", "Agent", "backend-dev", "Read the API"},
		{"Agent backend-dev", "Agent", "backend-dev", ""},
		{"Agent", "Agent", "", ""},
		{"", "Agent", "", ""},
	} {
		if agent, about := archive.AgentCall(tt.line, tt.label); agent != tt.agent || about != tt.about {
			t.Errorf("%q: %q and %q, want %q and %q", tt.line, agent, about, tt.agent, tt.about)
		}
	}
	for label, want := range map[string]bool{"Agent": true, "Task": true, "TaskOutput": false, "Bash": false, "": false} {
		if archive.IsAgentTool(label) != want {
			t.Errorf("IsAgentTool(%q) is %v", label, !want)
		}
	}
}
