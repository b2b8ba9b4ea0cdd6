package claude_test

import (
	"testing"

	"strandline/internal/archive"
	"strandline/internal/transcript/claude"
)

func TestAgentMeta(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     archive.Agent
	}{
		{"as the client writes it", `{"agentType":"Explore","isBuiltIn":true,"description":"Find the parser","finished":true}`, archive.Agent{Type: "Explore", Description: "Find the parser"}},
		{"without a description", `{"agentType":"Plan"}`, archive.Agent{Type: "Plan"}},
		{"half written", `{"agentType":"Pla`, archive.Agent{}},
		{"other types", `{"agentType":7}`, archive.Agent{}},
		{"empty", ``, archive.Agent{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := claude.AgentMeta([]byte(c.in)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
