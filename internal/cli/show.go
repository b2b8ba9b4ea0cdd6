package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/transcript/claude"
)

func (a *app) showCommand() *cobra.Command {
	var exact, asJSON bool
	cmd := &cobra.Command{
		Use:   "show HANDLE",
		Short: "Print a session's outline, one turn or one step whole",
		Long: `Print what a handle names, read from the log: a session's outline (7f3a12cd), a turn
(7f3a12cd/12) or a step (7f3a12cd/12.3), nothing cut. Secrets are replaced by
placeholders; --exact prints the transcript's own lines.`,
		Args: exactArgs("HANDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(cfg *config.Config, c *capture.Capture, s Store) error {
				h, id, err := session(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				if h.Turn < 0 && !exact {
					return a.showSession(cmd.Context(), c, s, id, asJSON)
				}
				return a.showPlace(cmd.Context(), cfg, c, s, id, h, exact, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&exact, "exact", false, "the transcript's lines as they are, nothing redacted")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// outlineJSON is a session's outline for scripts.
type outlineJSON struct {
	sessionJSON
	TurnList []turnJSON `json:"turn_list"`
	Files    []string   `json:"files"`
}

type turnJSON struct {
	Handle   string    `json:"handle"`
	Title    string    `json:"title"`
	Start    time.Time `json:"start"`
	Steps    int       `json:"steps"`
	LineFrom int       `json:"line_from"`
	LineTo   int       `json:"line_to"`
	Dead     bool      `json:"dead,omitempty"`
	Copy     string    `json:"copy_of,omitempty"`
}

func (a *app) showSession(ctx context.Context, c *capture.Capture, s Store, id string, asJSON bool) error {
	info, err := s.Session(ctx, id)
	if err != nil {
		return err
	}
	turns, err := s.Turns(ctx, archive.Span{Session: id})
	if err != nil {
		return err
	}
	files, err := c.SideFiles(id)
	if err != nil {
		return err
	}
	out := outlineJSON{sessionJSON: toSessionJSON(info), TurnList: []turnJSON{}, Files: append([]string{}, files...)}
	for _, t := range turns {
		j := turnJSON{
			Handle: archive.Ref{Session: id, Turn: t.Index, Step: -1}.Handle(), Title: t.Title, Start: t.Start,
			Steps: t.Steps, LineFrom: t.LineFrom, LineTo: t.LineTo, Dead: t.Dead,
		}
		if t.Copy != nil {
			j.Copy = t.Copy.Handle()
		}
		out.TurnList = append(out.TurnList, j)
	}
	if asJSON {
		return a.printJSON(out)
	}
	p := a.paint()
	fmt.Fprintf(a.env.Stdout, "%s  %s\n%s\n", p.bold(id), projectName(info.Project),
		p.dim(fmt.Sprintf("%s – %s · %d turns, %d steps, %d calls, %d compactions · %s · %s",
			stamp(info.First), stamp(info.Last), info.Turns, info.Steps, info.Calls, info.Compacts, size(info.Bytes), info.Model)))
	t := newTable("HANDLE", "START", ">STEPS", "PROMPT")
	for _, x := range out.TurnList {
		title := x.Title
		if x.Dead {
			title = "(left behind by a rewind) " + title
		}
		if x.Copy != "" {
			title = "(= " + x.Copy + ") " + title
		}
		t.row(x.Handle, stamp(x.Start), fmt.Sprint(x.Steps), title)
	}
	if err := t.write(a.env.Stdout, a.width()); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(a.env.Stdout, "file  %s\n", f)
	}
	return nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func (a *app) showPlace(ctx context.Context, cfg *config.Config, c *capture.Capture, s Store, id string, h archive.Handle, exact, asJSON bool) error {
	from, to, err := lineRange(ctx, s, id, h)
	if err != nil {
		return err
	}
	raw, err := logScanner{c}.lines(ctx, id, from, to)
	if err != nil {
		return err
	}
	if exact {
		_, err := a.env.Stdout.Write(raw)
		return err
	}
	redact := a.env.Redact(cfg)
	blocks := claude.Blocks(raw, from)
	if h.Step >= 0 {
		blocks = onlyStep(ctx, s, id, h, blocks)
	}
	for i := range blocks {
		blocks[i].Text = redact(blocks[i].Text)
	}
	if asJSON {
		return a.printJSON(blocks)
	}
	return a.printBlocks(archive.Handle{Session: archive.ShortID(id), Turn: h.Turn, Step: h.Step}, blocks)
}

// lineRange finds the transcript lines of a turn or step; a whole session is all
// of its lines.
func lineRange(ctx context.Context, s Store, id string, h archive.Handle) (from, to int, err error) {
	if h.Turn < 0 {
		return 0, 0, nil
	}
	span := archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}
	turns, err := s.Turns(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	if len(turns) == 0 {
		return 0, 0, archive.NotFound(fmt.Sprintf("session %s has no turn %d", archive.ShortID(id), h.Turn),
			"`strandline show "+archive.ShortID(id)+"` lists its turns")
	}
	if h.Step < 0 {
		return turns[0].LineFrom, turns[0].LineTo, nil
	}
	steps, err := s.Steps(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	for _, st := range steps {
		if st.Index == h.Step {
			return st.LineFrom, st.LineTo, nil
		}
	}
	return 0, 0, archive.NotFound(fmt.Sprintf("turn %d has no step %d", h.Turn, h.Step),
		fmt.Sprintf("`strandline show %s/%d` prints the turn with its %d steps", archive.ShortID(id), h.Turn, len(steps)))
}

// onlyStep leaves out rows of other steps that stand between a step's lines:
// parallel calls are written interleaved.
func onlyStep(ctx context.Context, s Store, id string, h archive.Handle, blocks []claude.Block) []claude.Block {
	calls, err := s.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}})
	if err != nil {
		return blocks // more than asked for is better than nothing
	}
	foreign := map[string]bool{}
	for _, call := range calls {
		if call.Step != h.Step {
			foreign[call.ToolID] = true
		}
	}
	var out []claude.Block
	for _, b := range blocks {
		if b.ToolID == "" || !foreign[b.ToolID] {
			out = append(out, b)
		}
	}
	return out
}

func (a *app) printBlocks(h archive.Handle, blocks []claude.Block) error {
	p := a.paint()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.bold(h.String()))
	for _, x := range blocks {
		if x.Own || x.Kind == "attachment" || x.Kind == "other" || strings.TrimSpace(x.Text) == "" {
			continue
		}
		head := x.Kind
		if x.Name != "" {
			head += " " + x.Name
		}
		if x.Error {
			head += " (error)"
		}
		fmt.Fprintf(&b, "\n%s %s\n%s\n", p.kind("── "+head), p.dim("line "+fmt.Sprint(x.Line)), strings.TrimRight(x.Text, "\n"))
	}
	if _, err := io.WriteString(a.env.Stdout, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
