package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"strandline/internal/recall"
)

// CoSQA's functions become prompts, talkLines per session.
const talkLines = 200

// cosqa reads the functions and the questions in folder and makes an archive of
// the functions below dir.
func cosqa(ctx context.Context, folder, dir string) (*set, error) {
	var functions map[string]int
	if err := readJSON(filepath.Join(folder, "code_idx_map.txt"), &functions); err != nil {
		return nil, err
	}
	var asked []struct {
		ID   string `json:"idx"`
		Doc  string `json:"doc"`
		Gold int    `json:"retrieval_idx"`
	}
	if err := readJSON(filepath.Join(folder, "cosqa-retrieval-dev-500.json"), &asked); err != nil {
		return nil, err
	}
	lines := make([]line, 0, len(functions))
	for code, no := range functions {
		lines = append(lines, line{id: strconv.Itoa(no), text: code})
	}
	slices.SortFunc(lines, func(a, b line) int { // numbers of different length
		return len(a.id)*1_000_000 + atoi(a.id) - len(b.id)*1_000_000 - atoi(b.id)
	})
	var talks []talk
	for part := range slices.Chunk(lines, talkLines) {
		start := time.Date(2024, 1, 1+len(talks), 9, 0, 0, 0, time.UTC)
		talks = append(talks, talk{name: fmt.Sprintf("cosqa/%d", len(talks)), cwd: "/home/dev/snippets", start: start, lines: part})
	}
	where, err := write(filepath.Join(dir, "client"), talks)
	if err != nil {
		return nil, err
	}
	w, err := build(ctx, filepath.Join(dir, "home"), filepath.Join(dir, "client"))
	if err != nil {
		return nil, err
	}
	g := group{world: w, answers: func(h recall.Hit) []string { return where.at(h.Session, h.LineFrom, h.LineTo) }}
	for _, q := range asked {
		g.questions = append(g.questions, question{id: q.ID, text: q.Doc, gold: map[string]bool{strconv.Itoa(q.Gold): true}, parts: []string{"dev"}})
	}
	return &set{name: "CoSQA", note: "a question to the function that answers it", groups: []group{g}}, nil
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read an evaluation: %w", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return nil
}
