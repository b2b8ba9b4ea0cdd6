package archive

import "strings"

// IsAgentTool reports whether a passage's label names a tool that starts sub-agents.
func IsAgentTool(label string) bool { return label == "Agent" || label == "Task" }

// AgentCall splits the first line of such a tool's passage, "Task <type> ·
// <description> · <prompt>". Missing parts are "".
func AgentCall(line, label string) (agentType, description string) {
	parts := strings.SplitN(strings.TrimSpace(strings.TrimPrefix(line, label)), " · ", 3)
	if len(parts) > 1 {
		description = parts[1]
	}
	return parts[0], description
}
