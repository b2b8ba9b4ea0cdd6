//go:build unix

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// go test ./cmd/strandline -run TestExchangeSurvivesKills -kills 100
var kills = flag.Int("kills", 3, "how often TestExchangeSurvivesKills kills a push or a pull")

// machines are two archives and a place that both reach, also through a stand-in for ssh.
type machines struct {
	t       *testing.T
	root    string
	program string
}

// A push or a pull that is killed on either side, at any of its writes, loses nothing: the
// same command completes it, and then both archives have the same bytes and rows.
func TestExchangeSurvivesKills(t *testing.T) {
	m := newMachines(t)
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for round := 0; killed < *kills && round < 20**kills; round++ {
		writer, reader := "laptop", "desk"
		if round%2 == 1 {
			writer, reader = reader, writer
		}
		m.work(writer, round)
		address := m.path("place")
		kill := func(p *os.Process) error { return p.Kill() }
		if round%3 > 0 {
			address = "ssh://desk" + address
		}
		if round%3 == 2 {
			kill = m.killServer
		}
		who, what := writer, "push"
		if round/6%2 == 1 {
			m.must(writer, "archive", "push", address)
			who, what = reader, "pull"
		}
		_ = os.Remove(m.path("server")) // of the round before, if it had one
		files := func() string { return describeFiles(m.path("place")) + describeFiles(m.path(who)) }
		if killAt(t, m.command(who, "archive", what, address), 1+random.IntN(12), files, kill) {
			killed++
		}
		m.must(writer, "archive", "push", address)
		m.must(reader, "archive", "pull", address)
		m.equal(fmt.Sprintf("round %d, %s %s %s", round, who, what, address))
	}
	if killed < *kills {
		t.Errorf("only %d of %d were killed", killed, *kills)
	}
	for _, who := range []string{"laptop", "desk"} {
		m.must(who, "verify")
		if out := m.must(who, "archive", "push", m.path("place")); !strings.Contains(out, "Nothing is new") {
			t.Errorf("%s pushes again: %s", who, out)
		}
	}
	before := m.rows("desk")
	m.must("desk", "reindex")
	if after := m.rows("desk"); after != before {
		t.Errorf("a rebuilt index has other rows:\n%s\n%s", before, after)
	}
}

func newMachines(t *testing.T) *machines {
	m := &machines{t: t, root: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.program = m.path("bin", "strandline") // TestMain dispatches by this name
	ssh := "#!/bin/sh\nfor command; do :; done\necho $$ >'" + m.path("server") + "'\nexec sh -c \"exec $command\"\n"
	if err := errors.Join(os.Mkdir(m.path("bin"), 0o700), os.Symlink(self, m.program), os.WriteFile(m.path("bin", "ssh"), []byte(ssh), 0o700)); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machines) path(parts ...string) string {
	return filepath.Join(append([]string{m.root}, parts...)...)
}

func (m *machines) command(who string, args ...string) *exec.Cmd {
	cmd := exec.Command(m.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+m.path(who, "home"), "STRANDLINE_HOME="+m.path(who, "archive"),
		"CLAUDE_CONFIG_DIR="+m.path(who, "home", ".claude"), "XDG_CONFIG_HOME="+m.path("config"), "PATH="+m.path("bin")+":"+os.Getenv("PATH"),
		"NO_COLOR=1", "TZ=UTC", "STRANDLINE_LIFECYCLE_AUTO=false")
	return cmd
}

// must runs the program and returns its standard output.
func (m *machines) must(who string, args ...string) string {
	m.t.Helper()
	cmd := m.command(who, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("%s: %v: %v\n%s%s", who, args, err, out.String(), said.String())
	}
	return out.String()
}

// killServer kills the program that serves the place, if it is running.
func (m *machines) killServer(*os.Process) error {
	data, err := os.ReadFile(m.path("server"))
	if err != nil {
		return os.ErrProcessDone
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return os.ErrProcessDone
	}
	p, err := os.FindProcess(id)
	if err != nil {
		return err
	}
	return p.Kill()
}

// work adds turns to a session of a machine, side files and a note.
func (m *machines) work(who string, round int) {
	m.t.Helper()
	session := map[string]string{"laptop": doomed, "desk": spared}[who]
	text, err := synthesized(session, round+2)
	dir := m.path(who, "home", ".claude", "projects", "-home-dev-shop")
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, session, "tool-results"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, session+".jsonl"), text, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, session, "tool-results", fmt.Sprintf("toolu_%d.txt", round)), bytes.Repeat([]byte("output\n"), 100*round), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.must(who, "import")
	m.must(who, "remember", fmt.Sprintf("note %d of %s", round, who))
}

// rows returns what a machine has: sessions with their bytes and turns, notes, and hits.
func (m *machines) rows(who string) string {
	m.t.Helper()
	var b strings.Builder
	b.WriteString(m.must(who, "sessions", "--all", "--json"))
	b.WriteString(m.must(who, "remember", "--list", "--json"))
	b.WriteString(m.must(who, "search", "--all", "--json", "--limit", "100", "maxBackoff1"))
	var out []string
	for line := range strings.Lines(b.String()) {
		if !strings.Contains(line, `"took_ms"`) && !strings.Contains(line, `"score"`) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// equal fails unless both machines have the same.
func (m *machines) equal(when string) {
	m.t.Helper()
	if a, b := m.rows("laptop"), m.rows("desk"); a != b {
		m.t.Fatalf("%s: the rows differ:\n%s\n%s", when, a, b)
	}
	for who, session := range map[string]string{"laptop": doomed, "desk": spared} {
		text, err := os.ReadFile(m.path(who, "home", ".claude", "projects", "-home-dev-shop", session+".jsonl"))
		if err != nil {
			continue // it has not worked yet
		}
		for _, at := range []string{"laptop", "desk"} {
			if got := m.must(at, "export", session); got != string(text) {
				m.t.Fatalf("%s: %s has %d of %d bytes of %.8s", when, at, len(got), len(text), session)
			}
		}
	}
}
