package cli

import (
	"bytes"
	"context"
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

func (a *commands) compactCommand(cmd *cobra.Command) {
	f := cmd.Flags()
	session := f.String("session", "", "an archived session, or a handle of it, instead of stdin")
	atLine := f.Int("at-line", 0, "as if the session had ended before this line of its transcript (0-based, exclusive; 0: its end)")
	budget := f.Int("budget-tokens", 0, "size of the new conversation (default: a fifth of the window, from 20000 to 60000)")
	exact := f.Bool("exact", false, "with --session: the kept messages as they are, not redacted")
	format := f.String("format", "json", "json, or text: what the model would read")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case *format != "json" && *format != "text":
			return wrongUsage(strconv.Quote(*format)+" is not a format", "--format takes json or text")
		case *atLine < 0 || *budget < 0:
			return wrongUsage("--at-line and --budget-tokens take numbers from 0 up", "write 0 for the default")
		case *session == "":
			return a.compactStdin(cmd.Context(), *budget, *format)
		}
		out, err := a.app.ReplaceArchived(cmd.Context(), *session, *atLine, *budget, *exact)
		switch {
		case err != nil:
			return err
		case *format == "text":
			_, err := io.WriteString(a.out, out.Conversation())
			return err
		}
		return a.printJSON(out.Expanded())
	}
}

// compactStdin answers the client's plugin.
func (a *commands) compactStdin(ctx context.Context, budget int, format string) error {
	data := bytes.NewBuffer(make([]byte, 0, typicalConversation))
	if _, err := data.ReadFrom(io.LimitReader(a.env.Stdin, maxConversation+1)); err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	if data.Len() > maxConversation {
		return archive.Invalid(fmt.Sprintf("the conversation is larger than %d bytes", maxConversation), "")
	}
	out, err := a.app.Replace(ctx, data.Bytes(), budget)
	for _, warning := range out.Warnings {
		fmt.Fprintf(a.errOut, "strandline: %v\n", warning)
	}
	switch {
	case err != nil:
		return err
	case out.Skip != "":
		return a.writeJSON(map[string]string{"skip": out.Skip})
	case format == "text":
		_, err := io.WriteString(a.out, out.Conversation())
		return err
	}
	return a.writeJSON(out.Answer())
}

// writeJSON writes an answer for the plugin on one line, or nothing.
func (a *commands) writeJSON(v any) error {
	answer, err := encodeJSON(v, "")
	if err != nil {
		return err
	}
	if len(answer) > maxAnswer {
		return archive.Invalid(fmt.Sprintf("the answer of %d bytes is more than the client takes", len(answer)), "lower --budget-tokens")
	}
	if _, err := io.WriteString(a.env.Stdout, answer); err != nil {
		return cannotPrint(err)
	}
	return nil
}
