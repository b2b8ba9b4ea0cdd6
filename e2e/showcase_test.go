package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/bench/synth"
)

// IDs of the sessions of a showcase.
const (
	ledgerSession = "5a1c0de7-0000-4000-8000-000000000001"
	longSession   = "10090000-0000-4000-8000-000000000002"
	longTurns     = 3000 // of the long session, in tests
)

// showcase writes transcripts with everything that the page shows below a folder: a
// session with a compaction, edits, a checklist, colours, a picture and markup; several
// small ones over some weeks; and one with that many turns.
func showcase(t *testing.T, folder string, turns int) {
	t.Helper()
	start := time.Now().UTC().AddDate(0, 0, -20).Truncate(24 * time.Hour).Add(9 * time.Hour)
	session := func(id, cwd, model string, at time.Time, seed uint64, write func(s *synth.Session)) {
		var out bytes.Buffer
		s := synth.New(&out, synth.Options{Session: id, Cwd: cwd, Branch: "main", Version: "2.1.329", Model: model, Start: at, Seed: seed, Context: 22_000})
		s.Begin()
		write(s)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, s.ID()+".jsonl"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	session(longSession, "/src/harbor", "claude-sonnet-5", start, 2, func(s *synth.Session) {
		for i := range turns {
			s.Prompt(fmt.Sprintf("Rename field %d of the manifest", i))
			s.Say(fmt.Sprintf("Field %d is renamed.", i))
			s.Respond()
		}
	})
	small := []string{"Add a health check to the importer", "Why is the nightly export slow?", "Write the release notes", "Move the retry policy into internal/backoff", "Explain the flag parser", "Fix the flaky upload test"}
	for i := range 14 {
		cwd, model := "/src/ledger", "claude-opus-5"
		if i%3 == 1 {
			cwd, model = "/src/harbor", "claude-sonnet-5"
		}
		session("", cwd, model, start.AddDate(0, 0, i+i%2).Add(time.Duration(i)*47*time.Minute), uint64(10+i), func(s *synth.Session) {
			s.Prompt(small[i%len(small)])
			for k := range 4 + i%5 {
				s.Load(int64(6_000 + 2_500*(i%4)))
				s.Say("I look at the next part.")
				call := s.Use("Bash", synth.Row{}.Str("command", fmt.Sprintf("go test ./internal/part%d", k)))
				s.Respond()
				s.Answer(call, "ok", i%4 == 3 && k == 3, synth.Row{}.Str("stdout", "ok").Str("stderr", "").Bool("interrupted", false))
			}
			s.Say("Done.")
			s.Respond()
			s.EndTurn()
		})
	}
	session(ledgerSession, "/src/ledger", "claude-opus-5", start.AddDate(0, 0, 18), 1, ledger)
}

// ledger writes the session that most views of the page are tested with.
func ledger(s *synth.Session) {
	run := func(command, output string, failed bool) {
		call := s.Use("Bash", synth.Row{}.Str("command", command).Str("description", "run it"))
		s.Respond()
		if failed {
			s.Answer(call, "Exit code 1\n"+output, true, nil)
			return
		}
		s.Answer(call, output, false, synth.Row{}.Str("stdout", output).Str("stderr", "").Bool("interrupted", false))
	}
	edit := func(path, old, now string) {
		call := s.Use("Edit", synth.Row{}.Str("file_path", "/src/ledger/"+path).Str("old_string", old).Str("new_string", now))
		s.Respond()
		s.Answer(call, "The file "+path+" has been updated.", false, synth.Row{}.Str("filePath", "/src/ledger/"+path))
	}
	todos := func(states ...string) {
		names := []string{"Round postings half to even", "Reject a journal that does not balance", "Describe it in docs/rounding.md"}
		var list []synth.Row
		for i, state := range states {
			list = append(list, synth.Row{}.Str("content", names[i]).Str("status", state).Str("activeForm", names[i]))
		}
		call := s.Use("TodoWrite", synth.Row{}.List("todos", list...))
		s.Respond()
		s.Answer(call, "Todos have been modified successfully.", false, synth.Row{}.Bool("ok", true))
	}
	parts := []string{"account", "balance", "posting", "journal", "currency", "rounding", "statement", "reversal", "transfer", "interest", "closing", "period",
		"invoice", "payment", "refund", "dispute", "payout", "fee", "tax", "budget", "forecast", "audit", "export", "import", "branch", "region"}

	s.Prompt("The trial balance is off by one cent in March. Find the reason and fix it; amounts stay in minor units, never floats.")
	s.Think("Sum the postings of March first, then look at how amounts are rounded.")
	s.Say("I'll reproduce it first.")
	run("go test -run TestTrialBalance ./internal/journal", "\x1b[31m--- FAIL\x1b[0m: TestTrialBalance (0.01s)\n    balance_test.go:31: debit 1204.17, credit 1204.18\n\x1b[1mFAIL\x1b[0m", true)
	todos("in_progress", "pending", "pending")
	for i, p := range parts {
		s.Load(5_000)
		s.Say(fmt.Sprintf("`internal/%s/%s.go` has `Round%s`, called with `limit_%s`; `%s_scale` and `%s_minimum` are read from the settings before that.", p, p, strings.ToUpper(p[:1])+p[1:], p, p, p))
		run(fmt.Sprintf("grep -n Round%s internal/%s/%s.go", strings.ToUpper(p[:1])+p[1:], p, p), fmt.Sprintf("%d:func Round%s(limit_%s int64) int64 {\n%d:\treturn v / legacy_%s // until 2019", 14+i, strings.ToUpper(p[:1])+p[1:], p, 21+i, p), false)
	}
	edit("internal/rounding/rounding.go", "func RoundRounding(v, unit int64) int64 {\n\treturn (v + unit/2) / unit\n}", "// RoundRounding rounds half to even.\nfunc RoundRounding(v, unit int64) int64 {\n\tq, r := v/unit, v%unit\n\tif 2*r > unit || 2*r == unit && q%2 == 1 {\n\t\tq++\n\t}\n\treturn q\n}")
	run("go test ./internal/...", "\x1b[32mok\x1b[0m  ledger/internal/journal 0.02s", false)
	s.Say("## What was wrong\n\nPostings were rounded **half up**, so two of 1,204 entries differ by one cent:\n\n| entry | before | now |\n|---|---:|---:|\n| 881 | 0.13 | 0.12 |\n| 902 | 4.51 | 4.50 |\n\n1. `RoundRounding` now rounds half to even.\n2. The test is green.\n\n```go\nif 2*r == unit && q%2 == 1 {\n\tq++\n}\n```\n\nNo <b onclick=\"alert(1)\">markup</b> and no [script](javascript:alert(1)) runs here.")
	s.Respond()
	s.EndTurn()

	s.Prompt("Good. Here is what the report looks like now, is the footer right?")
	picture := s.Use("Read", synth.Row{}.Str("file_path", "/src/ledger/out/report.png"))
	s.Respond()
	s.AnswerPicture(picture, "image/png", base64.StdEncoding.EncodeToString(report()))
	todos("completed", "in_progress", "pending")
	s.Say("The footer adds up.")
	s.Respond()
	s.EndTurn()
	s.Load(40_000)
	s.Compact("auto", 167_412, 9_300, "This session is being continued from a previous conversation. The user wants amounts in minor units, never floats. RoundRounding in internal/rounding/rounding.go now rounds half to even; RoundAccount, RoundBalance, RoundPosting, RoundCurrency and RoundStatement use it, account_scale and balance_scale come from the settings, and RoundJournal in internal/journal/journal.go comes next: it must reject a journal that does not balance. TestTrialBalance in internal/journal is green.")

	s.Prompt("Now reject journals that do not balance, and write it down.")
	for _, p := range parts[:22] {
		s.Load(3_000)
		name := strings.ToUpper(p[:1]) + p[1:]
		s.Say(fmt.Sprintf("`Round%s` in `internal/%s/%s.go` needs limit_%s, %s_scale and %s_minimum too.", name, p, p, p, p, p))
		edit(fmt.Sprintf("internal/%s/%s.go", p, p), "return Round"+name+"(limit_"+p+")", "if err := check(limit_"+p+"); err != nil {\n\treturn 0, err\n}\nreturn Round"+name+"(limit_"+p+") / legacy_"+p+", nil")
	}
	run("go test ./internal/...", "ok  ledger/internal/journal 0.03s", false)
	run("git commit -am 'journal: reject entries that do not balance'", "[main 5e1f2a3] journal: reject entries that do not balance", false)
	todos("completed", "completed", "completed")
	s.Say("Done and committed.")
	s.Respond()
	s.EndTurn()
}

// report draws a small picture.
func report() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 360, 140))
	for y := range 140 {
		for x := range 360 {
			c := color.RGBA{250, 250, 248, 255}
			if y < 24 {
				c = color.RGBA{11, 107, 99, 255}
			} else if bar := x / 45; x%45 > 8 && 130-y < 30+(bar*37)%80 && y < 130 {
				c = color.RGBA{92, 200, 187, 255}
			}
			img.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // a buffer accepts everything
	}
	return out.Bytes()
}
