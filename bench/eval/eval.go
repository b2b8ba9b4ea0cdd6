package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Data are the files and folders of the large sets, "" for those that are not there.
type Data struct {
	Commits     string // file of commits
	Questions   string // file of natural questions
	Transcripts string // folder of the sessions that they are about
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
	if data.Questions != "" {
		w, err := build(ctx, filepath.Join(dir, "questions"), data.Transcripts)
		if err != nil {
			return err
		}
		s, parts, err := questions(ctx, data.Questions, w)
		if err != nil {
			return err
		}
		tables = append(tables, table{s, parts})
		both, err := issues(ctx, w)
		if err != nil {
			return err
		}
		for _, s := range both {
			tables = append(tables, table{s, parts[:3]})
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
