package claude

import "testing"

func TestInstruction(t *testing.T) {
	for body, want := range map[string]string{
		"Make the retry wait longer, please":                 "Make the retry wait longer, please",
		"I got this feedback:\n\nThe comment is wrong":       "I got this feedback: The comment is wrong",
		"▐▛███▜▌ Claude Code v2.1.53\n❯ pick up the session": "pick up the session",
		"❯ This branch is a PR against main.":                "This branch is a PR against main.",
		"支払いの再試行を倍にする":                                       "支払いの再試行を倍にする",
		"hi":                                                 "? hi",
		"hello there":                                        "? hello there",
		"/review 7":                                          "? /review 7",
		"=== 12:3 ===":                                       "? === 12:3 ===",
		"":                                                   "? ",
	} {
		got, strong := instruction(body)
		if !strong {
			got = "? " + got
		}
		if got != want {
			t.Errorf("instruction(%q) = %q, want %q", body, got, want)
		}
	}
}

func TestSessionTitle(t *testing.T) {
	named := func(s *script, kind, field, title string) *script {
		return s.state(fields("type", kind, field, title, "leafUuid", "u1"))
	}
	plan := fields("plan", "Steps\n\n# Retry with a limit\n\n1. Do")
	for name, c := range map[string]struct {
		write func(s *script)
		want  string
	}{
		"the first prompt that instructs": {func(s *script) { s.user("hi").user("/review").user("Fix the payment retry").user("And the docs too") }, "Fix the payment retry"},
		"nothing better than a command":   {func(s *script) { s.user("/review 7") }, "/review 7"},
		"an accepted plan":                {func(s *script) { s.user("Implement the following plan:\n\n# Plan: wait longer\n\nDo it") }, "Plan: wait longer"},
		"a plan of the model":             {func(s *script) { s.user("Fix the payment retry").use("m", "t", "ExitPlanMode", plan) }, "Retry with a limit"},
		"the client's title":              {func(s *script) { named(s.user("Fix the payment retry"), "ai-title", "aiTitle", "Retries") }, "Retries"},
		"the client's newer title":        {func(s *script) { named(named(s, "ai-title", "aiTitle", "One"), "ai-title", "aiTitle", "Two") }, "Two"},
		"the user's title": {func(s *script) {
			named(named(s.user("Fix the payment retry"), "custom-title", "customTitle", "Mine"), "ai-title", "aiTitle", "Its")
		}, "Mine"},
		"an older client's":              {func(s *script) { named(s.user("Fix the payment retry"), "summary", "summary", "Retries") }, "Retries"},
		"an older client's, of an other": {func(s *script) { named(s, "summary", "summary", "Other").user("Fix the payment retry") }, "Fix the payment retry"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			c.write(s)
			expect(t, "title", s.read().session.Title, c.want)
		})
	}
}
