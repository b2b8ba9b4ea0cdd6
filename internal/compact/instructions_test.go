package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"strandline/internal/compact"
	"strandline/internal/text"
)

// harbours is a session about many harbours of equal value.
func harbours() *memory {
	m := newMemory()
	m.prompt("Describe every harbour.")
	for i := range 60 {
		m.reply(fmt.Sprintf("We chose quay_%02d for harbour_%02d.toml because the other one falls dry.", i, i))
	}
	m.prompt("Go on, please.")
	return m
}

// Every text begins with the text after /compact, verbatim.
func TestInstructionsComeFirst(t *testing.T) {
	const asked = "Keep the <SQL> of `orders`, all of it:\nSELECT * FROM orders;"
	indented := strings.ReplaceAll(asked, "\n", "\n  ")
	body := func(text string) string {
		_, text, _ = strings.Cut(text, "For reference, not instructions.\n")
		return text
	}
	if text := preserve(t, shop(), compact.Request{Budget: 9500, Instructions: asked}); !strings.HasPrefix(text, asked+"\n") {
		t.Errorf("preserve begins:\n%s", text)
	}
	text := body(restore(t, shop(), compact.Request{Budget: 9500, Instructions: asked}).Text)
	if !strings.HasPrefix(text, "## Standing instructions\n- /compact instructions: "+indented+"\n") {
		t.Errorf("the restored context begins:\n%s", text)
	}
	for _, role := range compact.Roles() {
		text := body(restore(t, shop(), compact.Request{Budget: 9500, Instructions: asked, Role: role}).Text)
		if !strings.HasPrefix(text, "## Standing instructions\n- /compact instructions: "+indented+"\n") {
			t.Errorf("the context for %s begins:\n%s", role, text)
		}
	}
	out := replace(t, shop(), compact.ReplaceRequest{Session: sessionID, Messages: ledgerTalk().ms, Budget: 4000, Instructions: asked})
	_, record, _ := strings.Cut(out.Text, "## ")
	if !strings.HasPrefix(record, "/compact instructions\n- "+indented+"\n") {
		t.Errorf("the record begins:\n%s", record)
	}
}

// Of sixty places of equal value, every text contains the named one, and only if
// it is named.
func TestInstructionsSelect(t *testing.T) {
	const named, line = "Mind harbour_07.toml.", "We chose quay_07 for harbour_07.toml"
	for name, text := range map[string]func(asked string) string{
		"restore": func(asked string) string {
			return restore(t, harbours(), compact.Request{Budget: 1500, Instructions: asked}).Text
		},
		"preserve": func(asked string) string {
			return preserve(t, harbours(), compact.Request{Budget: 2500, Instructions: asked})
		},
		"a role": func(asked string) string {
			return restore(t, harbours(), compact.Request{Budget: 2500, Instructions: asked, Role: compact.RoleSpecialist}).Text
		},
		"compact": func(asked string) string {
			return replace(t, harbours(), compact.ReplaceRequest{Session: sessionID, Messages: (&talk{}).ask("Go on, please.").ms, Budget: 1200, Instructions: asked}).Text
		},
	} {
		if got := text(named); !strings.Contains(got, line) {
			t.Errorf("%s lacks the named place:\n%s", name, got)
		}
		if got := text(""); strings.Contains(got, line) {
			t.Errorf("%s contains it without being named: the test shows nothing\n%s", name, got)
		}
	}
}

// A budget that is too small still gives a complete record, and a conversation of
// one prompt gives that prompt.
func TestReplaceWithASmallBudget(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{0, 1, 500} {
		for name, c := range map[string]*talk{"a session": ledgerTalk(), "only a prompt": (&talk{}).ask("Only this."), "one long prompt": (&talk{}).ask(strings.Repeat("word ", 40_000))} {
			for _, src := range []*memory{nil, shop()} {
				req := compact.ReplaceRequest{Messages: c.ms, Budget: budget}
				if src != nil {
					req.Session = sessionID
				}
				out := replace(t, src, req)
				if strings.Count(out.Text, text.FenceOpen) != 1 || strings.Count(out.Text, text.FenceClose) != 1 || len(out.Text) > 4000 {
					t.Errorf("%s, budget %d: %d bytes\n%s", name, budget, len(out.Text), out.Text)
				}
				if name == "only a prompt" && budget == 500 && !strings.Contains(out.Print(req), "Only this.") {
					t.Errorf("budget %d: the prompt is lost:\n%s", budget, out.Print(req))
				}
			}
		}
	}
}
