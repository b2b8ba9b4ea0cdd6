// Package statusline prints one line for the client's statusline: the usage of the
// context window by the client's own count, and whether the session is captured. It
// opens no index. Missing or invalid input gives a line with less in it, never an
// error.
package statusline

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"strandline/internal/text"
	"strandline/internal/usage"
)

// Env holds the inputs and outputs of a call.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Getenv  func(string) string
	Store   usage.Store
	Monitor usage.Monitor
	// Template is the line's template, "" for the default.
	Template string
	// ASCII forces ASCII characters; otherwise the locale decides.
	ASCII bool
	// Command is the user's command whose first line is printed before Strandline's.
	Command string
}

// maxInput is the most bytes read of stdin.
const maxInput = 1 << 20

// inputTimeout limits the wait for stdin.
const inputTimeout = time.Second

// minWidth is the least number of columns for Strandline's part of the line: those of
// the shield and a percentage.
const minWidth = 7

// Run prints one line.
func Run(ctx context.Context, env Env) error {
	data := readInput(ctx, env.Stdin)
	prefix := make(chan string, 1)
	if env.Command != "" {
		go func() { prefix <- runCommand(ctx, env.Command, data) }()
	} else {
		prefix <- ""
	}
	in := parse(data)
	v := collect(in, env.Store, env.Monitor)
	storeWindow(ctx, in, env, v)
	st := env.style()
	line := <-prefix
	sep := " │ "
	if st.ASCII {
		sep = " | "
	}
	if line != "" {
		if st.Width > 0 {
			st.Width = max(st.Width-text.Cells(line)-text.Cells(sep), minWidth)
		}
		if strings.Contains(line, "\x1b[") {
			line += "\x1b[0m"
		}
		line += sep
	}
	_, err := io.WriteString(env.Stdout, line+Render(v, st)+"\n")
	return err
}

// style returns the terminal's capabilities according to the environment.
func (e Env) style() Style {
	st := Style{Template: e.Template, ASCII: e.ASCII || !utf8Locale(e.Getenv)}
	st.Plain = e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb"
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		st.Width = n
	}
	return st
}

// utf8Locale reports whether the locale uses UTF-8, which an unset locale does.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(getenv(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return true
}

// storeWindow stores the window that the client reported, for the hooks, whose
// payloads lack it. It writes only changes, about once per session.
func storeWindow(ctx context.Context, in input, env Env, v Data) {
	size := in.size()
	if size == 0 || v.storedWindow == size && v.storedModel == in.Model.ID {
		return
	}
	// On an error the hooks use the model's window.
	_ = env.Store.Update(ctx, in.Session, func(s *usage.Session) bool {
		s.ClientWindow, s.ClientModel = size, in.Model.ID
		env.Monitor.Derive(s)
		return true
	})
}

// readInput reads stdin to its end, or returns nil after a second.
func readInput(ctx context.Context, in io.Reader) []byte {
	ctx, cancel := context.WithTimeout(ctx, inputTimeout)
	defer cancel()
	done := make(chan []byte, 1)
	go func() { // runs until the process exits if the pipe stays open
		data, _ := io.ReadAll(io.LimitReader(in, maxInput))
		done <- data
	}()
	select {
	case data := <-done:
		return data
	case <-ctx.Done():
		return nil
	}
}
