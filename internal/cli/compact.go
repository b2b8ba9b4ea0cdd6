package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

// Limits in bytes of the command as the client's plugin calls it.
const (
	maxConversation     = 64 << 20 // of stdin
	typicalConversation = 1 << 20  // initial size of the buffer
	maxAnswer           = 7 << 19  // of stdout; the client accepts 4 MiB
)

// compactFlags are the flags of the compact command.
type compactFlags struct {
	session string
	atLine  int
	budget  int
	format  string
}

func (a *commands) compactCommand(cmd *cobra.Command) {
	var f compactFlags
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "an archived session, or a handle of it, instead of stdin")
	fl.IntVar(&f.atLine, "at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	fl.IntVar(&f.budget, "budget-tokens", 0, "size of the new conversation (default: a fifth of the window, from 20000 to 60000)")
	fl.StringVar(&f.format, "format", "json", "json, or text: what the model would read")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case f.format != "json" && f.format != "text":
			return wrongUsage(strconv.Quote(f.format)+" is not a format", "--format takes json or text")
		case f.atLine < 0 || f.budget < 0:
			return wrongUsage("--at-line and --budget-tokens take numbers from 0 up", "write 0 for the default")
		case f.session == "":
			return a.compactStdin(cmd.Context(), f)
		}
		out, err := a.app.ReplaceArchived(cmd.Context(), f.session, f.atLine, f.budget)
		switch {
		case err != nil:
			return err
		case f.format == "text":
			return a.printExact(out.Conversation())
		}
		return a.printJSON(out.Expanded())
	}
}

// compactStdin answers the client's plugin.
func (a *commands) compactStdin(ctx context.Context, f compactFlags) error {
	data := bytes.NewBuffer(make([]byte, 0, typicalConversation))
	if _, err := data.ReadFrom(io.LimitReader(a.env.Stdin, maxConversation+1)); err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	if data.Len() > maxConversation {
		return archive.Invalid(fmt.Sprintf("the conversation is larger than %d bytes", maxConversation), "")
	}
	out, err := a.app.Replace(ctx, data.Bytes(), f.budget)
	for _, warning := range out.Warnings {
		fmt.Fprintf(a.env.Stderr, "strandline: %v\n", warning)
	}
	switch {
	case err != nil:
		return err
	case out.Skip != "":
		return a.writeJSON(map[string]string{"skip": out.Skip})
	case f.format == "text":
		return a.printExact(out.Conversation())
	}
	return a.writeJSON(out.Reply())
}

// writeJSON writes an answer for the plugin on one line, or nothing.
func (a *commands) writeJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return cannotPrint(err)
	}
	if b.Len() > maxAnswer {
		return archive.Invalid(fmt.Sprintf("the answer of %d bytes is more than the client takes", b.Len()), "lower --budget-tokens")
	}
	return a.printExact(b.String())
}

// printExact writes a text unfiltered, even to a terminal.
func (a *commands) printExact(text string) error {
	if _, err := io.WriteString(a.env.Stdout, text); err != nil {
		return cannotPrint(err)
	}
	return nil
}
