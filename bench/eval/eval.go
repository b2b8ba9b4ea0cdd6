package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Data is a folder that holds dev_commits/open.jsonl, transcripts/, locomo/ and
// cosqa/ as far as they are there.
type Data struct {
	Commits     string // file of commits
	Transcripts string // folder of the sessions that made them
	LoCoMo      string // file
	CoSQA       string // folder
}

// Run imports the bundled set and those of data below dir, which is empty, asks every system and
// prints a table for each set.
func Run(ctx context.Context, out io.Writer, data Data, dir string, systems []System) (err error) {
	type table struct {
		set   *set
		parts []string
	}
	var tables []table
	defer func() {
		for _, t := range tables {
			err = errors.Join(err, t.set.close())
		}
	}()
	bundled, err := own(ctx, filepath.Join(dir, "own"))
	if err != nil {
		return err
	}
	tables = append(tables, table{bundled, []string{partOwn}})
	if data.Commits != "" {
		sets, err := commits(ctx, data.Commits, data.Transcripts, filepath.Join(dir, "commits"))
		if err != nil {
			return err
		}
		for _, s := range sets {
			tables = append(tables, table{s, commitParts()})
		}
	}
	if data.LoCoMo != "" {
		s, err := locomo(ctx, data.LoCoMo, filepath.Join(dir, "locomo"))
		if err != nil {
			return err
		}
		tables = append(tables, table{s, locomoParts()})
	}
	if data.CoSQA != "" {
		s, err := cosqa(ctx, data.CoSQA, filepath.Join(dir, "cosqa"))
		if err != nil {
			return err
		}
		tables = append(tables, table{s, []string{"dev"}})
	}
	for _, t := range tables {
		if _, err := fmt.Fprintf(out, "\n%s: %s\n\n%s", t.set.name, t.set.note, header()); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
		for _, sys := range systems {
			figures, err := t.set.run(ctx, sys)
			if err != nil {
				return err
			}
			for _, p := range t.parts {
				if _, err := fmt.Fprint(out, row(sys.Name, p, figures[p])); err != nil {
					return fmt.Errorf("print the table: %w", err)
				}
			}
		}
	}
	return nil
}

func header() string {
	return "| system | questions | n | Hit@1 | Hit@5 | Hit@10 | R@5 | R@10 | MRR |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
}

func row(system, part string, s *score) string {
	if s == nil {
		s = &score{}
	}
	return fmt.Sprintf("| %s | %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", system, part, s.n,
		s.mean(s.hit[0]), s.mean(s.hit[1]), s.mean(s.hit[2]), s.mean(s.recall[1]), s.mean(s.recall[2]), s.mrr())
}
