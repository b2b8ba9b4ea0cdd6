package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// These tests check the client's behaviour that strandline relies on, with a hook
// that only records. A failure with a new client version means the client changed.

// allEvents are the hooks that strandline may be called at.
func allEvents() []string {
	return []string{
		"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "StopFailure",
		"SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
	}
}

func TestClientCompactsInTheMiddleOfAToolLoop(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	hook.say("PreCompact", "Keep the tide tables in mind.")
	hook.say("SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"High water at 04:12 <sic>."}}`)
	s.api.Summarize("Some commands ran.")
	s.api.On("run them", toolLoop(4, 2)...)

	tn := s.start(newSession(t), "run them").mustAnswer("All done.").undisturbed()

	if got, want := strings.Join(tn.compactions(), " "), "auto"; got != want {
		t.Errorf("compactions: %s, want %s", got, want)
	}
	if got, want := hook.order(), "SessionStart/startup UserPromptSubmit PostToolUse/Bash PostToolUse/Bash PostToolUse/Bash"+
		" PreCompact/auto SubagentStop SessionStart/compact PostCompact/auto PostToolUse/Bash Stop SessionEnd/other"; got != want {
		t.Errorf("order of events:\n got %s\nwant %s", got, want)
	}
	asked := tn.request(mockapi.Compaction, 0).Text()
	if !strings.Contains(asked, "Keep the tide tables in mind.") {
		t.Error("the compaction request does not hold what PreCompact printed")
	}
	next := after(t, tn, mockapi.Compaction).Text()
	for _, want := range []string{"Some commands ran.", "High water at 04:12"} {
		if !strings.Contains(next, want) {
			t.Errorf("the request after the compaction does not hold %q", want)
		}
	}
	for _, p := range hook.payloads() {
		if p.String() == "SubagentStop" && !strings.Contains(p.Last, "Some commands ran.") {
			t.Errorf("SubagentStop before the restored context contains %q, not the summary", p.Last)
		}
	}
}

func TestClientCompactsOnDemand(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	hook.say("SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"High water at 04:12."}}`)
	s.api.Summarize("We greeted.")
	s.api.On("hello", mockapi.Say("Good day."))
	s.api.On("and now", mockapi.Say("Now this."))
	id := newSession(t)
	s.start(id, "hello").mustAnswer("Good day.").undisturbed()

	tn := s.resume(id, "/compact mind the tides").mustSucceed()

	if !strings.Contains(s.api.Requests()[1].Text(), "mind the tides") {
		t.Errorf("%s: the compaction request does not hold the argument", tn.args)
	}
	next := s.resume(id, "and now").mustAnswer("Now this.").undisturbed()
	for _, want := range []string{"We greeted.", "High water at 04:12"} {
		if !strings.Contains(next.request(mockapi.Turn, 0).Text(), want) {
			t.Errorf("the request after the compaction does not hold %q", want)
		}
	}
	if got, want := hook.order(), "SessionStart/startup UserPromptSubmit Stop SessionEnd/other"+
		" SessionStart/resume PreCompact/manual SubagentStop SessionStart/compact PostCompact/manual SessionEnd/other"+
		" SessionStart/resume UserPromptSubmit Stop SessionEnd/other"; got != want {
		t.Errorf("order of events:\n got %s\nwant %s", got, want)
	}
}

func TestClientCompactsWhenTheAPIRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	s.api.Summarize("We greeted.")
	s.api.On("hello", mockapi.Say("Good day."))
	s.api.On("and now", mockapi.TooLong(), mockapi.Say("Now this."))
	id := newSession(t)
	s.start(id, "hello").mustAnswer("Good day.")

	tn := s.resume(id, "and now").mustAnswer("Now this.").undisturbed()

	if got, want := strings.Join(tn.compactions(), " "), "auto"; got != want {
		t.Errorf("compactions: %s, want %s", got, want)
	}
	if got := hook.order(); !strings.Contains(got, "PreCompact/auto SubagentStop SessionStart/compact PostCompact/auto Stop") {
		t.Errorf("order of events: %s", got)
	}
}

func TestClientRunsSubAgents(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	s.api.On("delegate", mockapi.Use(mockapi.Agent("Look", "look for it")), mockapi.Say("It was found."))
	s.api.On("look for it", mockapi.Use(mockapi.Bash("echo here")), mockapi.Say("Found it here."))
	id := newSession(t)

	s.start(id, "delegate").mustAnswer("It was found.").undisturbed()

	if got := hook.order(); !strings.Contains(got, "SubagentStop/general-purpose") {
		t.Errorf("order of events: %s", got)
	}
	if got := s.sideFiles(id); len(got) != 2 {
		t.Errorf("side files of a session with a sub-agent: %v, want its transcript and its description", got)
	}
}

// TestClientCompactsSubAgents: hooks of a sub-agent's compaction carry the parent's
// session id, and their output reaches the sub-agent.
func TestClientCompactsSubAgents(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	hook := s.record(allEvents()...)
	hook.say("SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"High water at 04:12."}}`)
	s.api.On("delegate", mockapi.Use(mockapi.Agent("Look", "look for it")), mockapi.Say("It was found."))
	s.api.On("look for it", toolLoop(3, 1)...)
	id := newSession(t)

	tn := s.start(id, "delegate").mustAnswer("It was found.").undisturbed()

	next := after(t, tn, mockapi.Compaction)
	if next.Prompt != "look for it" || !strings.Contains(next.Text(), "High water at 04:12") {
		t.Errorf("the request after the compaction (of %q) does not hold what SessionStart said", next.Prompt)
	}
	for _, p := range hook.payloads() {
		switch p.String() {
		case "PreCompact/auto", "SessionStart/compact", "PostCompact/auto":
			if p.Session != id || p.Agent != "general-purpose" || p.AgentID == "" {
				t.Errorf("%s of a sub-agent: %+v", p, p)
			}
		}
	}
}

// TestClientDoublesWhatAModuleKeeps shows why closed turns are reproduced instead of
// kept: a resumed session contains every block of a kept response twice, because the
// copy has the message id of the original. A reproduced response appears once, without
// its thinking, for which neither the answer nor a rewritten row has a field.
func TestClientDoublesWhatAModuleKeeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer          string
		thinking, texts int
	}{
		"kept by its handle": {"...e.messages.slice(-3)", 2, 2},
		"sent again":         {"e.messages[0], { role: 'assistant', text: 'Low water.', toolUses: [] }", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.installPlugin()
			s.write(filepath.Join(s.store, "plugin", "strandline", "hooks", "register.ts"), `import type { Register } from 'claude-code'
export const register: Register = (on) => {
  let compacted = false
  on('session.append', async ($, e, next) => {
    const m: any = e.message
    const thinking = { type: 'thinking', thinking: 'It ebbs.', signature: 'c2lnbmF0dXJl' }
    return next(compacted && m.type === 'assistant' && m.content[0]?.type === 'text' ? { ...e, message: { ...m, content: [thinking, ...m.content] } } : e)
  })
  on('session.compact', async ($, e, next) => {
    compacted = true
    return { messages: [{ role: 'user', text: 'Before.', toolUses: [] }, `+c.answer+`] }
  })
}
`)
			s.api.On("What is it now?", mockapi.Say("Low water.").Thinking("It ebbs."))
			s.api.On("And now?", mockapi.Say("High water."))
			id := newSession(t)
			s.start(id, "What is it now?").mustAnswer("Low water.")
			s.resume(id, "/compact").mustSucceed()

			req := s.resume(id, "And now?").mustAnswer("High water.").request(mockapi.Turn, 0)

			blocks := map[string]int{}
			for _, m := range req.Messages {
				for _, b := range m.Blocks {
					if m.Role == "assistant" {
						blocks[b.Type]++
					}
				}
			}
			if blocks["thinking"] != c.thinking || blocks["text"] != c.texts {
				t.Errorf("the resumed session holds %v, want %d of thinking and %d of text", blocks, c.thinking, c.texts)
			}
		})
	}
}

// toolLoop is a turn of n tool calls, one per reply. The reply after the n-th fills
// the context, so the client compacts before its next request.
func toolLoop(n, full int) []mockapi.Reply {
	var replies []mockapi.Reply
	for i := range n {
		reply := mockapi.Use(mockapi.Bash("echo step")).Thinking("Next.").At(20_000)
		if i == full {
			reply = reply.At(compactAt)
		}
		replies = append(replies, reply)
	}
	return append(replies, mockapi.Say("All done."))
}

// after returns the request of the turn that follows its first of that kind.
func after(t *testing.T, tn *turn, kind mockapi.Kind) *mockapi.Request {
	t.Helper()
	for i, req := range tn.requests {
		if req.Kind == kind && i+1 < len(tn.requests) {
			return tn.requests[i+1]
		}
	}
	t.Fatalf("%s: no request after one of kind %s", tn.args, kind)
	return nil
}
