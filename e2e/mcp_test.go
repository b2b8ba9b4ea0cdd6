package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/archive"
	"strandline/internal/mcpserver"
)

// mcpTool returns the client's name of a tool of the plugin's server.
func mcpTool(name string) string { return "mcp__plugin_strandline_strandline__" + name }

// loadedTools are the tools that a request offers to the model.
func loadedTools(t *testing.T, req *mockapi.Request) []string {
	t.Helper()
	var body struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(req.Body, &body); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range body.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// results are the texts of the tool results in a request's last message.
func results(req *mockapi.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, bl := range m.Blocks {
			if slices.Contains(req.ToolResults(), bl.ToolUseID) {
				b.WriteString(bl.Text + "\n")
			}
		}
	}
	return b.String()
}

// TestModelRecallsOverMCP: the model searches for a fact that a compaction removed
// from its context and reads it by its handle.
func TestModelRecallsOverMCP(t *testing.T) {
	t.Parallel()
	s, id := planted(t, (*sandbox).installPlugin)
	other := newSession(t)
	handle := archive.ShortID(id) + "/0"
	const ask = "Which port was it in the other session?"
	s.api.On(ask,
		mockapi.Use(mockapi.Tool{Name: mcpTool("search"), Input: map[string]any{"query": "port of the gauge"}}),
		mockapi.Use(mockapi.Tool{Name: mcpTool("recall"), Input: map[string]any{"handle": handle}}),
		mockapi.Say("54177."))

	tn := s.start(other, ask, "--allowedTools", mcpTool("search")+","+mcpTool("recall")).mustAnswer("54177.").undisturbed()

	first := tn.request(mockapi.Turn, 0)
	loaded := loadedTools(t, first)
	for _, name := range []string{"search", "recall"} {
		if !slices.Contains(loaded, mcpTool(name)) {
			t.Errorf("%s is not among the tools of the first request: %v", name, loaded)
		}
	}
	if slices.Contains(loaded, mcpTool("status")) {
		t.Error("status is loaded, without a request")
	}
	if !strings.Contains(first.System+first.Text(), mcpserver.Instructions) {
		t.Error("the model does not see the server's instructions")
	}
	found, rest := records(results(tn.request(mockapi.Turn, 1)))
	if !strings.Contains(strings.Join(found, ""), handle) {
		t.Errorf("search does not name %s in a record of ours: %q and %s", handle, found, rest)
	}
	recalled, rest := records(results(tn.request(mockapi.Turn, 2)))
	if !strings.Contains(strings.Join(recalled, ""), portFact) || strings.Contains(rest, portFact) {
		t.Errorf("recall does not give the fact as a record of ours: %q and %s", recalled, rest)
	}
	s.checkExported()

	// The output of Strandline's tools is not indexed as session content.
	again := s.strandline("search", "--json", "--session", archive.ShortID(other), "gauge").mustSucceed()
	if strings.Contains(again.stdout, portFact) {
		t.Errorf("the archive holds its own answer:\n%s", again.stdout)
	}
}
