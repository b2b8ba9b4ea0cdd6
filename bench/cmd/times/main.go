// Command times measures a build of strandline as a client would use it: whole
// processes over invented transcripts of up to 1 GB, each beside an empty Go
// program. It prints one Markdown table; with -strict it ends with 1 if a goal
// was missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"strandline/bench/times"
)

func main() {
	binary := flag.String("bin", "bin/strandline", "the build to measure")
	quick := flag.Bool("quick", false, "leave out the transcript of 1 GB")
	runs := flag.Int("runs", 40, "runs of each process")
	only := flag.String("only", "hook,prompt,statusline,import,search,compact,vectors", "what to measure")
	messages := flag.Int("messages", times.GoalMessages, "size of the archive that is searched; 1400000 messages are a million passages")
	strict := flag.Bool("strict", false, "fail if a goal is missed")
	dir := flag.String("dir", "", "folder for transcripts and archives, about 3 GB (default: a temporary one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	missed, err := run(ctx, *binary, *dir, *only, *runs, *messages, *quick)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Fprintln(os.Stderr, missed, "goals missed; another load on the machine counts as well")
		if *strict {
			os.Exit(1)
		}
	}
}

func run(ctx context.Context, binary, parent, only string, runs, messages int, quick bool) (missed int, err error) {
	dir, err := os.MkdirTemp(parent, "strandline-bench-")
	if err != nil {
		return 0, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	programs, err := times.Build(ctx, dir, binary)
	if err != nil {
		return 0, err
	}
	s := &times.Suite{Programs: programs, Dir: dir, Runs: runs, Log: os.Stderr, ImportBytes: 100e6, SearchMessages: messages, Vectors: []int{10_000, 100_000, 1_000_000}}
	sizes := []int64{1e6, 1e8, 1e9}
	if quick {
		sizes = sizes[:2]
	}
	for part := range strings.SplitSeq(only, ",") {
		fmt.Fprintln(os.Stderr, part)
		switch part {
		case "hook":
			err = s.Hooks(ctx, sizes)
		case "prompt":
			err = s.Prompts(ctx)
		case "statusline":
			err = s.Statusline(ctx)
		case "import":
			err = s.Import(ctx)
		case "search":
			err = s.Search(ctx)
		case "compact":
			err = s.Compact(ctx)
		case "vectors":
			err = s.Nearest(ctx)
		default:
			err = fmt.Errorf("nothing is called %q", part)
		}
		if err != nil {
			return 0, err
		}
	}
	fmt.Printf("%s, %s/%s, %d cores, %s, median of %d runs\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), runs)
	return s.Report.Missed(), s.Report.Write(os.Stdout)
}
