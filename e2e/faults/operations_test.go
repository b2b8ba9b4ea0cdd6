//go:build linux && amd64

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// operation is something that the client or a user does.
type operation struct {
	name string
	rows bool // the client has new rows, which the operation captures
	job  func(w *world) job
	// did returns why the operation did not do its work, nil if it did.
	did func(w *world, out output) error
}

// operations are the columns of the table.
func operations() []operation {
	says := func(text string) func(*world, output) error {
		return func(_ *world, out output) error {
			if !strings.Contains(out.stdout, text) {
				return fmt.Errorf("the output lacks %q", text)
			}
			return nil
		}
	}
	ends := func(*world, output) error { return nil }
	command := func(args ...string) func(*world) job { return func(w *world) job { return w.command(args...) } }
	hook := func(event, session string, more ...string) func(*world) job {
		return func(w *world) job { return w.hook(event, session, more...) }
	}
	return []operation{
		{"stop", true, hook("Stop", live), captures},
		{"prompt", true, hook("UserPromptSubmit", live, "prompt=and now?"), captures},
		{"end", true, hook("SessionEnd", live, "reason=other"), captures},
		{"resume", false, hook("SessionStart", live, "source=compact"), says("STRANDLINE RECORD")},
		{"import", true, command("import"), captures},
		{"restore", false, command("restore", "--session", live), says(word(live, turns-2))},
		{"preserve", false, command("preserve", "--session", live), says("Keep")},
		{"compact", false, command("compact", "--session", live), says(word(live, turns-2))},
		{"reindex", false, command("reindex"), ends},
		{"verify", false, command("verify"), ends},
		{"maintain", false, command("maintain"), ends},
		{"forget", false, command("forget", doomed, "--yes"), forgets},
		{"export", false, command("export", only), exports},
		{"rebuild", false, func(w *world) job { return w.command("rebuild", only, "--to", w.path("out")) }, rebuilds},
		{"search", false, command("search", "--all", "--json", "--limit", "100", common), finds},
		{"show", false, command("show", only[:8]+"/1"), says(word(only, 1))},
		{"status", false, command("status"), counts},
		{"serve", false, func(w *world) job {
			return job{args: []string{"serve", "--json", "--until-eof"}, drive: browse}
		}, ends},
	}
}

// counts checks that a status has all sessions, or says that some are missing.
func counts(_ *world, out output) error {
	if !strings.Contains(out.stdout, "3 sessions") && !strings.Contains(out.stdout, "strandline maintain") {
		return fmt.Errorf("the status is %q", out.stdout)
	}
	return nil
}

// captures checks that the log has the client's file, and that its new prompt is found.
func captures(w *world, _ output) error {
	if info, err := os.Lstat(w.transcript(live)); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is nothing to capture
	}
	want := w.read(w.transcript(live))
	if out := w.run(w.command("export", live), nil); !strings.HasPrefix(out.stdout, string(want)) {
		return fmt.Errorf("the log of %s has %d bytes, the client's file %d", live[:8], len(out.stdout), len(want))
	}
	if newest := word(live, turns-1); bytes.Contains(want, []byte("lamp "+newest+" ")) {
		if out := w.run(w.command("search", "--all", "--json", newest), nil); !strings.Contains(out.stdout, "lamp "+newest+" ") {
			return errors.New("the new prompt is not found")
		}
	}
	return nil
}

// forgets checks that nothing of doomed is left.
func forgets(w *world, _ output) error { return w.nothingOf(doomed) }

// exports checks the bytes of an export of only.
func exports(w *world, out output) error {
	if want := w.captured(only); out.stdout != string(want) {
		return fmt.Errorf("%d bytes are exported, want %d", len(out.stdout), len(want))
	}
	return nil
}

// rebuilds checks the rebuilt file of only.
func rebuilds(w *world, _ output) error {
	data, err := os.ReadFile(w.path("out/-home-dev-shop/" + only + ".jsonl"))
	if err == nil && !bytes.Equal(data, w.captured(only)) {
		err = errors.New("the rebuilt file differs")
	}
	return err
}

// finds checks that a search lists the captured turns, except those in a hole.
func finds(w *world, out output) error {
	var missing []string
	for _, session := range []string{live, only} {
		for turn := range turns - 1 {
			if said := word(session, turn); !strings.Contains(out.stdout, "lamp "+said+" ") && !w.holes[said] {
				missing = append(missing, said)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("a search does not find %v", missing)
	}
	return nil
}

// browse asks a server for the sessions and searches.
func browse(out io.Reader) error {
	var started struct {
		URL       string
		TokenFile string `json:"token_file"`
	}
	if err := json.NewDecoder(out).Decode(&started); err != nil {
		return fmt.Errorf("the server does not start: %w", err)
	}
	token, err := os.ReadFile(started.TokenFile)
	if err != nil {
		return err
	}
	for path, want := range map[string]string{"/api/v1/sessions": live, "/api/v1/search?q=" + word(only, 2): word(only, 2)} {
		r, err := http.NewRequest(http.MethodGet, started.URL+path, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if !strings.Contains(string(body), want) {
			return fmt.Errorf("%s answers %s without %s", path, answer.Status, want)
		}
	}
	return nil
}
