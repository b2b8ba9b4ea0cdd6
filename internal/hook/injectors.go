package hook

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// Recall returns the injector of automatic recall. At a prompt it adds passages
// that the prompt needs and the context no longer holds; after a compaction, work
// of other sessions on the same files. project returns a folder's project; redact
// replaces secrets.
func Recall(project func(dir string) archive.Project, redact func(string) string) Injector {
	return Injector{Name: "recall", Inject: func(ctx context.Context, e Event) (Injection, error) {
		find := recall.ForPrompt
		switch {
		case e.Name == "UserPromptSubmit" && recall.MayRecall(e.Prompt):
		case e.Name == "SessionStart" && e.Source == "compact":
			find = recall.Related
		default:
			return Injection{}, nil
		}
		idx, err := e.Index(ctx)
		if archive.ErrorCode(err) == archive.CodeNotFound {
			return Injection{}, nil // a prompt creates no index
		}
		if err != nil {
			return Injection{}, fmt.Errorf("automatic recall: %w", err)
		}
		b, err := find(ctx, idx, recall.PromptRequest{
			Session: e.Session, Project: project(e.Cwd).Key, Prompt: e.Prompt, Now: e.Now, Units: e.Budget,
		})
		if err != nil || b.Text == "" {
			return Injection{}, err
		}
		return Injection{Text: redact(b.Text), Handles: b.Handles, Refs: b.Refs, How: archive.AccessRestored}, nil
	}}
}

// adviseCompact follows a report in the middle of a turn.
const adviseCompact = "\nAt the next pause, advise the user to run /compact; what it drops stays in the archive."

// UsageReport returns the injector that reports context-window usage at a prompt and, with
// tools, after a tool call of the main conversation.
func UsageReport(m usage.Monitor, tools bool) Injector {
	return Injector{Name: "autopilot", Inject: func(_ context.Context, e Event) (Injection, error) {
		inTurn := tools && e.Name == "PostToolUse" && !strings.Contains(e.Session, "~")
		if e.Name != "UserPromptSubmit" && !inTurn {
			return Injection{}, nil
		}
		report := m.Report(e.Session, e.Transcript)
		if inTurn && report.Text != "" {
			report.Text += adviseCompact
		}
		return Injection{Text: report.Text, Done: report.Delivered}, nil
	}}
}

// Reminder returns the injector that asks the model for summaries of pending
// segments. It does so once per usage threshold, after a Bash call, which shows
// that the model can run the command.
func Reminder(marks task.CheckStates) Injector {
	return Injector{Name: "segments", Inject: func(_ context.Context, e Event) (Injection, error) {
		return remind(marks, e), nil
	}}
}

func remind(marks task.CheckStates, e Event) Injection {
	if e.Name != "PostToolUse" || e.Tool != "Bash" || strings.Contains(e.Session, "~") {
		return Injection{}
	}
	mark := marks.Read(e.Session)
	if mark.Pending == 0 || mark.Crossed <= mark.Reminded {
		return Injection{}
	}
	pending := "1 finished piece of work has"
	if mark.Pending > 1 {
		pending = fmt.Sprintf("%d finished pieces of work have", mark.Pending)
	}
	text := fmt.Sprintf("%s The context window is %d%% full and %s no summary yet. When convenient, write one for each "+
		"(decisions, file changes, fixes of errors, outcomes; 80 to 90%% fewer tokens): `strandline segments --pending --session %s` lists them, "+
		"`strandline segments save ID` reads the text from stdin. Skipping this loses no data.",
		usage.ReportPrefix, mark.Crossed, pending, archive.ShortID(e.Session))
	return Injection{Text: text, Done: func(context.Context) error {
		now := marks.Read(e.Session)
		now.Reminded = max(now.Reminded, mark.Crossed)
		return marks.Write(e.Session, now)
	}}
}
