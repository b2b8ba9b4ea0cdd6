// Package statusline prints the line below the client's prompt: how full the
// window is, by the client's own count, and how the archive stands to the
// session. It opens no index. Whatever comes on stdin, it prints what it knows
// and fails nobody.
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

// Env is the outside world of a line.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Getenv  func(string) string
	Store   usage.Store
	Monitor usage.Monitor
	// Template is the line's form, "" for the default.
	Template string
	// ASCII forces plain characters; otherwise the locale decides.
	ASCII bool
	// Command is a command of the user's whose first line stands before ours.
	Command string
}

// maxInput is the most that is read of stdin.
const maxInput = 1 << 20

// inputWait is how long stdin may take.
const inputWait = time.Second

// Run prints one line.
func Run(ctx context.Context, env Env) error {
	data := readAll(ctx, env.Stdin)
	theirs := make(chan string, 1)
	if env.Command != "" {
		go func() { theirs <- other(ctx, env.Command, data) }()
	} else {
		theirs <- ""
	}
	in := parse(data)
	v := look(in, env.Store, env.Monitor)
	remember(ctx, in, env, v)
	st := env.style()
	line := <-theirs
	sep := " │ "
	if st.ASCII {
		sep = " | "
	}
	if line != "" {
		if st.Width > 0 {
			st.Width = max(st.Width-text.Cells(line)-text.Cells(sep), least)
		}
		if line += sep; strings.Contains(line, "\x1b[") {
			line = strings.TrimSuffix(line, sep) + "\x1b[0m" + sep
		}
	}
	_, err := io.WriteString(env.Stdout, line+Render(v, st)+"\n")
	return err
}

// least is how many columns our part has beside another command's line, however
// narrow the terminal: those of a shield and a percentage.
const least = 7

// style is what the environment says of the terminal.
func (e Env) style() Style {
	st := Style{Template: e.Template, ASCII: e.ASCII || !utf8Locale(e.Getenv)}
	st.Plain = e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb"
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		st.Width = n
	}
	return st
}

// utf8Locale reports whether the locale takes more than ASCII. One that is not
// set says nothing against it.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(getenv(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return true
}

// remember notes the size of the window as the client tells it, for the hooks,
// which are told nothing. It is written when it changes, about once a session.
func remember(ctx context.Context, in input, env Env, v Data) {
	size := in.size()
	if size == 0 || v.told == size && v.toldModel == in.Model.ID {
		return
	}
	// Without it the hooks go by the model: no reason to fail.
	_ = env.Store.Update(ctx, in.Session, func(s *usage.Session) bool {
		s.ClientWindow, s.ClientModel = size, in.Model.ID
		env.Monitor.Derive(s)
		return true
	})
}

// readAll reads stdin until its end, or for a second.
func readAll(ctx context.Context, in io.Reader) []byte {
	ctx, cancel := context.WithTimeout(ctx, inputWait)
	defer cancel()
	done := make(chan []byte, 1)
	go func() { // ends with the process when the pipe stays open
		data, _ := io.ReadAll(io.LimitReader(in, maxInput)) // half of it is shown as far as it goes
		done <- data
	}()
	select {
	case data := <-done:
		return data
	case <-ctx.Done():
		return nil
	}
}
