// Command eval measures search quality and prints Markdown tables; see package eval.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"strandline/bench/eval"
)

func main() {
	data := flag.String("data", "", "folder with bench/ and data/ as the large sets come ")
	only := flag.String("only", "commits,questions,locomo,cosqa", "which of the large sets")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *data, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, only string) (err error) {
	dir, err := os.MkdirTemp("", "strandline-eval-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var data eval.Data
	for name := range strings.SplitSeq(only, ",") {
		switch {
		case folder == "":
		case name == "commits":
			data.Commits = filepath.Join(folder, "bench", "dev_commits", "open.jsonl")
			data.Transcripts = filepath.Join(folder, "data", "transcripts")
		case name == "questions":
			data.Questions = filepath.Join(folder, "bench", "questions", "open.jsonl")
			data.Transcripts = filepath.Join(folder, "data", "transcripts")
		case name == "locomo":
			data.LoCoMo = filepath.Join(folder, "bench", "locomo", "locomo10.json")
		case name == "cosqa":
			data.CoSQA = filepath.Join(folder, "bench", "cosqa")
		default:
			return fmt.Errorf("unknown set %q", name)
		}
	}
	return eval.Run(ctx, os.Stdout, data, dir, []eval.System{eval.Plain(), eval.Lexical(time.Now), eval.Vectors(), eval.Fused(time.Now), eval.Ten(time.Now)})
}
