// Command foresight measures how much of the specifics that sessions needed after a
// compaction is in the texts of strandline. It needs a folder of transcripts:
//
//	go run ./bench/cmd/foresight -bin bin/strandline -data DIR
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"strandline/bench/foresight"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "foresight:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fl := flag.NewFlagSet("foresight", flag.ContinueOnError)
	bin := fl.String("bin", "bin/strandline", "the program to measure")
	data := fl.String("data", os.Getenv("STRANDLINE_EVAL_DATA"), "folder of transcripts")
	each := fl.Bool("v", false, "print each cut")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		return errors.New("name a folder of transcripts with -data or STRANDLINE_EVAL_DATA")
	}
	exe, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "foresight")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	strandline := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, exe, args...)
		cmd.Env = append(os.Environ(), "STRANDLINE_HOME="+home)
		b, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("strandline %s: %w", strings.Join(args, " "), err)
		}
		return string(b), err
	}
	if _, err := strandline(ctx, "import", *data); err != nil {
		return err
	}
	ruler := foresight.NewRuler()
	var compacted, madeUp []foresight.Cut
	err = filepath.WalkDir(*data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || strings.Contains(path, "subagents") {
			return err
		}
		s, err := foresight.Read(path, ruler)
		if err == nil {
			compacted, madeUp = append(compacted, s.Cuts()...), append(madeUp, s.MadeUp()...)
		}
		return err
	})
	if err != nil {
		return err
	}
	t := foresight.Table{Ruler: ruler, Run: strandline, Out: out, Each: *each}
	if err := t.Print(ctx, strconv.Itoa(len(compacted))+" compactions", compacted); err != nil {
		return err
	}
	return t.Print(ctx, strconv.Itoa(len(madeUp))+" cuts through sessions without one", madeUp)
}
