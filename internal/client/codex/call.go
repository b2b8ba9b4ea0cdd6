package codex

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// call translates a tool call of the model.
func (t *Translator) call(at transcript.Entry, i *payload) []transcript.Entry {
	id := cmp.Or(i.CallID, i.ID)
	at = t.assistant(at, "call", id)
	c := Call{ID: id}
	at.Message.Content, c.Kind = t.blocks(id, i)
	c.Parts = len(at.Message.Content) - 1
	t.remember(c)
	return []transcript.Entry{at}
}

// remember keeps a call until its result.
func (t *Translator) remember(c Call) {
	if t.Calls = append(t.Calls, c); len(t.Calls) > maxCalls {
		t.Calls = slices.Delete(t.Calls, 0, len(t.Calls)-maxCalls)
	}
}

// blocks returns the blocks that show a call, and its kind.
func (t *Translator) blocks(id string, i *payload) ([]transcript.EntryBlock, string) {
	name, input := i.Name, jsonText(i.Arguments)
	if strings.HasPrefix(i.Namespace, "mcp__") {
		name = strings.TrimSuffix(i.Namespace, "__") + "__" + name
	}
	use := func(name string, input any) []transcript.EntryBlock {
		data, err := json.Marshal(input)
		if err != nil {
			data = nil
		}
		return []transcript.EntryBlock{transcript.UseBlock(id, name, data)}
	}
	var args struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
		Workdir string          `json:"workdir"`
		Patch   string          `json:"patch"`
		Input   string          `json:"input"`
		Message string          `json:"message"`
		Type    string          `json:"agent_type"`
		Task    string          `json:"task_name"`
	}
	transcript.Decode(input, &args)
	command := commandLine(args.Command)
	switch {
	case i.Type == "web_search_call":
		return use("web_search", map[string]string{"query": i.Action.Query, "url": i.Action.URL}), ""
	case i.Type == "local_shell_call":
		return use("local_shell", map[string]string{"command": commandLine(i.Action.Command)}), callCommand
	case i.Type == "tool_search_call":
		return use("tool_search", input), ""
	case name == "apply_patch":
		patch := cmp.Or(transcript.Text(i.Input), args.Patch, args.Input)
		if list := t.edits(id, patchFiles(patch)); len(list) > 0 {
			return list, callPatch
		}
		return use(name, map[string]string{"patch": patch}), callPatch
	case strings.HasPrefix(command, "apply_patch ") || strings.HasPrefix(command, "applypatch "):
		if list := t.edits(id, patchFiles(command)); len(list) > 0 {
			return list, callPatch
		}
	case name == "exec" && len(i.Input) > 0: // a script that calls tools
		script := transcript.Text(i.Input)
		if commands := scriptCommands(script); len(commands) > 0 && !t.Items {
			return use("exec_command", map[string]string{"command": strings.Join(commands, "\n")}), callCommand
		}
		return use(name, map[string]string{"script": script}), ""
	case name == "spawn_agent":
		return use(name, map[string]string{"subagent_type": args.Type, "description": args.Task, "prompt": args.Message}), ""
	}
	if command = cmp.Or(command, commandLine(args.Cmd)); command != "" {
		return use(name, map[string]string{"command": command, "workdir": args.Workdir}), callCommand
	}
	if len(i.Input) > 0 {
		return use(name, map[string]string{"input": transcript.Text(i.Input)}), ""
	}
	return use(name, input), ""
}

// commandLine returns the command of a shell: a text, or arguments whose last one is it.
func commandLine(raw json.RawMessage) string {
	var args []string
	if !transcript.DecodeList(raw, &args) {
		return transcript.Text(raw)
	}
	if len(args) == 3 && (args[1] == "-lc" || args[1] == "-c") {
		return args[2]
	}
	return strings.Join(args, " ")
}

// scriptCommands returns the commands in a script of the model: the literals that it
// passes as "cmd".
func scriptCommands(script string) (all []string) {
	for rest := script; ; {
		_, after, ok := strings.Cut(rest, "cmd")
		if !ok {
			return all
		}
		rest = after
		value, isMember := strings.CutPrefix(strings.TrimLeft(after, `"' `), ":")
		value = strings.TrimLeft(value, " \n")
		if !isMember || value == "" || !strings.ContainsRune("\"'`", rune(value[0])) {
			continue
		}
		var b strings.Builder
		for i := 1; i < len(value) && value[i] != value[0]; i++ {
			if value[i] == '\\' && i+1 < len(value) {
				if i++; value[i] == 'n' {
					b.WriteByte('\n')
					continue
				}
			}
			b.WriteByte(value[i])
		}
		all = append(all, b.String())
	}
}

// output translates the result of a call.
func (t *Translator) output(at transcript.Entry, i *payload) []transcript.Entry {
	t.Ended = true
	n := slices.IndexFunc(t.Calls, func(c Call) bool { return c.ID == i.CallID })
	c := Call{ID: i.CallID}
	if n >= 0 {
		c = t.Calls[n]
		t.Calls = slices.Delete(t.Calls, n, n+1)
	}
	all, images := texts(i.Output)
	body := strings.Join(all, "\n")
	if len(all) == 0 && images == 0 {
		body = transcript.Text(i.Output)
	}
	body, exit := result(body)
	if script, ok := strings.CutPrefix(body, scriptDone); ok && c.Kind == callCommand {
		exit = transcript.CodeAfter([]byte(script), `"exit_code":`) // else its calls report their own
		body = scriptOutput(all[min(1, len(all)):])
	}
	if c.Ended != nil && c.Ended.Exit != nil {
		exit = c.Ended.Exit
	}
	failed := exit != nil && *exit != 0 || exit == nil && text.HasAnyPrefix(body, "Script failed", "unsupported call: ", "unsupported custom tool call: ", "apply_patch verification failed", "failed to parse", "exec_command failed", "execution error", "err: ", "aborted by user", "rejected")
	if c.Kind != callCommand {
		exit = nil
	}
	return t.results(at, c, body, failed, exit)
}

// scriptOutput returns the output of the model's script: texts, and results of commands.
func scriptOutput(all []string) string {
	var out []string
	for _, s := range all {
		var r struct {
			Output *string `json:"output"`
		}
		if transcript.Decode([]byte(s), &r) && r.Output != nil {
			s = *r.Output
		}
		out = append(out, strings.TrimRight(s, "\n"))
	}
	return strings.Join(out, "\n")
}

// results returns the rows with the result of a call, which may be shown as several.
func (t *Translator) results(at transcript.Entry, c Call, body string, failed bool, exit *int) (rows []transcript.Entry) {
	for n := range c.Parts + 1 {
		var facts *transcript.EntryResult
		if exit != nil {
			facts = &transcript.EntryResult{ExitCode: exit}
		}
		rows = append(rows, transcript.ResultRow(at, partID(c.ID, n), transcript.String(body), failed, facts))
	}
	return rows
}

// scriptDone begins the output of a script of the model.
const scriptDone = "Script completed"

// partID identifies a part of a call.
func partID(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "#" + strconv.Itoa(n)
}

// result returns the output of a command without the client's heading, and the exit code
// in that. Older clients put both into JSON.
func result(body string) (string, *int) {
	if strings.HasPrefix(body, `{"output":`) {
		var r struct {
			Output   string `json:"output"`
			Metadata struct {
				Exit *int `json:"exit_code"`
			} `json:"metadata"`
		}
		if transcript.Decode([]byte(body), &r) {
			return r.Output, r.Metadata.Exit
		}
	}
	head, output, ok := strings.Cut(body, "Output:\n")
	if strings.HasPrefix(body, "Script ") { // its texts follow as they are
		return body, nil
	}
	const longestHead = 400
	if !ok || len(head) > longestHead || head != "" && !strings.HasSuffix(head, "\n") {
		return body, nil
	}
	for _, label := range []string{"Process exited with code ", "Exit code: "} {
		if code := transcript.CodeAfter([]byte(head), label); code != nil {
			return output, code
		}
	}
	return output, nil
}

// done translates an event about a call that ended. If a script made the call, only
// events name it.
func (t *Translator) done(at transcript.Entry, d *done) []transcript.Entry {
	id := cmp.Or(d.CallID, d.ID)
	n := slices.IndexFunc(t.Calls, func(c Call) bool { return c.ID == id })
	var blocks []transcript.EntryBlock
	body, exit := d.Output, d.Exit
	failed := d.Status == "failed" || d.Status == "declined" || d.Success != nil && !*d.Success || exit != nil && *exit != 0
	switch d.Type {
	case "CommandExecution", "exec_command_end":
		if n >= 0 {
			t.Calls[n].Ended = &Outcome{Exit: exit}
			return []transcript.Entry{at}
		}
		data, _ := json.Marshal(map[string]string{"command": commandLine(d.Command)}) // texts are always valid
		blocks = []transcript.EntryBlock{transcript.UseBlock(id, "exec_command", data)}
	case "FileChange", "patch_apply_end":
		if n >= 0 && t.Calls[n].Kind == callPatch {
			if failed {
				one := 1
				t.Calls[n].Ended = &Outcome{Exit: &one}
			}
			return []transcript.Entry{at}
		}
		if n >= 0 {
			id += "/patch"
		}
		blocks, body, exit = t.edits(id, changedFiles(d.Changes)), strings.TrimSpace(d.Stdout+"\n"+d.Stderr), nil
	case "McpToolCall", "mcp_tool_call_end":
		if n >= 0 {
			return []transcript.Entry{at}
		}
		tool := "mcp__" + cmp.Or(d.Server, d.Invocation.Server) + "__" + cmp.Or(d.Tool, d.Invocation.Tool)
		input := d.Arguments
		if len(input) == 0 {
			input = d.Invocation.Arguments
		}
		blocks = []transcript.EntryBlock{transcript.UseBlock(id, tool, input)}
		body = mcpText(d)
		failed = failed || len(d.Error) > 0 && string(d.Error) != "null"
	}
	if len(blocks) == 0 {
		return []transcript.Entry{at}
	}
	ended, counted := t.Ended, t.Counted
	if t.Response != "" { // of the response with the script
		t.Ended = false
	}
	use := t.assistant(at, "call", id)
	if use.Message.ID == t.Response && counted {
		t.Ended, t.Counted = ended, counted
	}
	use.Message.Content = blocks
	return append([]transcript.Entry{use}, t.results(at, Call{ID: id, Parts: len(blocks) - 1}, body, failed, exit)...)
}

// mcpText returns the text of an MCP tool's result.
func mcpText(d *done) string {
	var r struct {
		Content json.RawMessage `json:"content"`
		Ok      struct {
			Content json.RawMessage `json:"content"`
		} `json:"Ok"`
		Err string `json:"Err"`
	}
	transcript.Decode(d.Result, &r)
	all, _ := texts(r.Content)
	if len(all) == 0 {
		all, _ = texts(r.Ok.Content)
	}
	if all = append(all, r.Err); len(d.Error) > 0 {
		all = append(all, transcript.Text(d.Error))
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// edits returns the blocks of a patch, one for each file.
func (t *Translator) edits(id string, files []file) (blocks []transcript.EntryBlock) {
	for n, f := range files {
		if f.Path = filepath.FromSlash(f.Path); !filepath.IsAbs(f.Path) && t.Cwd != "" {
			f.Path = filepath.Join(t.Cwd, f.Path)
		}
		data, err := json.Marshal(f)
		if err == nil {
			blocks = append(blocks, transcript.UseBlock(partID(id, n), "apply_patch", data))
		}
	}
	return blocks
}
