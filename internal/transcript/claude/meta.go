package claude

import (
	"encoding/json"

	"strandline/internal/archive"
)

// AgentMeta reads the description that the client keeps beside a sub-agent's
// transcript (agent-<id>.meta.json). What it cannot read is empty.
func AgentMeta(meta []byte) archive.Agent {
	var m struct {
		AgentType   string `json:"agentType"`
		Description string `json:"description"`
	}
	if json.Unmarshal(meta, &m) != nil {
		return archive.Agent{}
	}
	return archive.Agent{Type: m.AgentType, Description: m.Description}
}
