package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strandline/internal/bench"
	"strandline/internal/config"
	"strandline/internal/hook"
	"strandline/internal/store/sqlite"
	"testing"
	"time"
)

func BenchmarkZZ(b *testing.B) {
	dir := b.TempDir()
	proj := filepath.Join(dir, "p", "projects", "-x")
	os.MkdirAll(proj, 0o700)
	id := "aaaa0000-0000-4000-8000-000000000001"
	path := filepath.Join(proj, id+".jsonl")
	f, _ := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	t := bench.NewTranscript(f, id, "/home/dev/p", 1)
	for t.Bytes() < 1_000_000 {
		t.Turn()
	}
	env := map[string]string{"STRANDLINE_HOME": filepath.Join(dir, "h"), "XDG_CONFIG_HOME": filepath.Join(dir, "c")}
	run := func() {
		cfg, _ := config.Load(config.Inputs{Env: func(k string) string { return env[k] }, Home: dir})
		c, j, _ := newCapture(cfg)
		c.MaxLog = maxHookBytes
		hook.Run(context.Background(), hook.Env{Stdin: bytes.NewReader([]byte(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/x","hook_event_name":"Stop"}`, id, path))), Stdout: io.Discard, Config: cfg, Now: now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Capture: c, Journal: j, Pending: pending(cfg), OpenIndex: func(ctx context.Context) (hook.Index, error) { return openIndex(ctx, indexPath(cfg), sqlite.Options{}) }, Detach: func(...string) error { return nil }, LastCapture: func(string) time.Time { return time.Time{} }})
	}
	run()
	b.ResetTimer()
	n := t.Bytes()
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		t.Turn()
		b.StartTimer()
		run()
	}
	b.ReportMetric(float64(t.Bytes()-n)/float64(b.N), "B/turn")
}
