//go:build linux && amd64

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// judge checks the archive as its user would see it. It returns all faults.
func (w *world) judge() error {
	w.holes = map[string]bool{}
	return errors.Join(
		w.returns(live, "", w.captured(live)),
		w.returns(only, "", w.captured(only)),
		w.returns(live, agent, w.sideBytes(agent)),
		w.returns(live, result, w.sideBytes(result)),
		w.wholeOrGone(doomed),
		w.nothingOf(gone),
		finds(w, w.run(w.command("search", "--all", "--json", "--limit", "100", common), nil)),
		w.facts(),
		w.verifies(),
		w.calm(),
	)
}

// sideBytes is what the archive has of a file of live.
func (w *world) sideBytes(rel string) []byte {
	return w.read(filepath.Join(w.path("before/home"), w.side(live, rel)[len(w.path("home")):]))
}

// returns checks that a generation of a session, or of a file of it, begins with bytes.
func (w *world) returns(session, rel string, want []byte) error {
	var errs error
	for generation := range 4 {
		args := []string{"export", session}
		if rel != "" {
			args = append(args, "--file", rel)
		} else if generation > 0 {
			args = append(args, "--generation", strconv.Itoa(generation))
		}
		out := w.run(w.command(args...), nil)
		if out.code == 0 && strings.HasPrefix(out.stdout, string(want)) {
			return nil
		}
		err := w.isHole(session, out, want)
		if err == nil {
			return nil
		}
		errs = errors.Join(errs, err)
		if generation > 0 && out.code == 3 || rel != "" {
			break // no such generation
		}
	}
	return fmt.Errorf("the %d bytes of %s %s are not exported: %w", len(want), session[:8], rel, errs)
}

// reported is how exports and verify report lost bytes of a transcript.
var reported = regexp.MustCompile(`(\d+) bytes of the transcript from byte (\d+)`)

// isHole returns nil if an export reports which bytes are lost, and all others are
// exported, at their offsets.
func (w *world) isHole(session string, out output, want []byte) error {
	if out.code != 6 {
		return fmt.Errorf("exit %d with %d bytes: %s", out.code, len(out.stdout), firstLine(out.stderr))
	}
	checked := w.run(w.command("verify", session), nil)
	rest, lostBytes := []byte(out.stdout), map[int]bool{}
	for _, m := range reported.FindAllStringSubmatch(out.stderr+checked.stdout, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		from, _ := strconv.Atoi(m[2])
		for at := from; at < from+n && at < len(want); at++ {
			lostBytes[at] = true
		}
	}
	for at := range want {
		if !lostBytes[at] && (at >= len(rest) || rest[at] != want[at]) {
			return fmt.Errorf("byte %d of %d is not exported and not reported: exit 6: %s", at, len(want), firstLine(out.stderr))
		}
	}
	for turn, end := range w.ends[session] {
		for at := range lostBytes {
			if at < end && (turn == 0 || at >= w.ends[session][turn-1]) {
				w.holes[word(session, turn)] = true
			}
		}
	}
	return nil
}

// wholeOrGone checks that a session was exported whole or is forgotten without a rest.
func (w *world) wholeOrGone(session string) error {
	if w.run(w.command("export", session), nil).code == 3 {
		return w.nothingOf(session)
	}
	return w.returns(session, "", w.captured(session))
}

// nothingOf checks that no file of the archive has the words of a session.
func (w *world) nothingOf(session string) error {
	if err := w.nothingWith(strings.TrimSuffix(word(session, 0), "0")); err != nil {
		return fmt.Errorf("the forgotten session %s is back: %w", session[:8], err)
	}
	return nil
}

// nothingWith checks that no file of the archive has a text, also not compressed.
func (w *world) nothingWith(text string) (err error) {
	w.eachFile(func(path string) {
		if data := w.read(path); bytes.Contains(data, []byte(text)) || bytes.Contains(unpacked(data), []byte(text)) {
			err = fmt.Errorf("%s has %q", path[len(w.dir)+1:], text)
		}
	})
	return err
}

// unpacked decompresses what can be decompressed of a file: each zstd frame that is
// whole.
func unpacked(data []byte) (out []byte) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		return nil
	}
	defer d.Close()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for at := bytes.Index(data, magic); at >= 0; {
		frame, err := d.DecodeAll(data[at:], nil)
		out = append(out, frame...) // with an error: those before it
		if err == nil {
			return out
		}
		next := bytes.Index(data[at+1:], magic)
		if next < 0 {
			return out
		}
		at += 1 + next
	}
	return out
}

// facts checks that a fact that only the journal has is known, or that verify reports a
// damaged or missing journal.
func (w *world) facts() error {
	if out := w.run(w.command("verify"), nil); out.code == 6 && strings.Contains(out.stdout, "✗ journal/") {
		w.holes["journal"] = true
		return nil
	}
	if out := w.run(w.command("tasks", "--session", live), nil); strings.Contains(out.stdout, task) {
		return nil
	}
	return errors.New("a task of the journal is lost, and verify does not report it")
}

// verifies checks that verify reports no damage, other than reported holes.
func (w *world) verifies() error {
	out := w.run(w.command("verify"), nil)
	if out.code == 0 || out.code == 6 && len(w.holes) > 0 {
		return nil
	}
	return fmt.Errorf("verify ends with %d: %s", out.code, firstLine(out.stdout+out.stderr))
}

// calm checks that the error log has no panic.
func (w *world) calm() error {
	data, err := os.ReadFile(w.path("archive/strandline.log"))
	if err == nil && panicked.Match(data) {
		return fmt.Errorf("the error log has a panic: %s", panicked.Find(data))
	}
	return nil
}

var panicked = regexp.MustCompile(`(?m)^.*(panic|nil pointer|goroutine \d+ \[).*$`)

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
