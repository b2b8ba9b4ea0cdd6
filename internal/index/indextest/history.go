package indextest

import (
	"fmt"
	"testing"

	"strandline/internal/archive"
)

// A file's history holds the accesses of all sessions, and the commands that name the file
// by any suffix of its path.
func testHistory(t *testing.T, open Opener) {
	s := open(t)
	for i, id := range []string{mainID, otherID} {
		b := simple(id, project([]string{"tide", "moon"}[i]), "the parser")
		step := archive.Step{Session: id, MessageID: "m" + id, Time: at(1), LineFrom: 1, LineTo: 2}
		b.Steps = []archive.Step{step}
		call := func(seq int, kind archive.CallKind, command string, failed bool, paths ...string) {
			b.Calls = append(b.Calls, archive.Call{
				Session: id, Turn: step.Turn, Step: step.Index, Seq: seq, ToolID: fmt.Sprint(id, seq), Name: "Tool", Kind: kind, Command: command, Failed: failed,
				Files: paths, LineUse: step.LineFrom, LineResult: -1,
			})
			for _, p := range paths {
				b.Files = append(b.Files, archive.FileTouch{
					Session: id, Turn: step.Turn, Step: step.Index, Seq: seq, Path: p, Kind: kind, Line: step.LineFrom, Time: step.Time,
				})
			}
		}
		b.Calls, b.Files = nil, nil
		call(0, archive.CallEdit, "", false, "/w/pay/retry.go", "/w/pay/other.go")
		call(1, archive.CallRead, "", true, "/w/pay/retry.go")
		call(2, archive.CallCommand, "cd /w && gofmt -w pay/retry.go", false)
		call(3, archive.CallCommand, "cat ./retry.go | wc", false)
		call(4, archive.CallCommand, "cat /x/retry.go notretry.go retry.go.bak", false)
		apply(t, s, b)
	}
	history := func(f archive.HistoryFilter) (out []string) {
		for _, x := range got[[]archive.Touch](t)(s.History(t.Context(), f)) {
			out = append(out, fmt.Sprint(x.Session[:4], " ", x.Seq, " ", x.Kind, " ", x.Failed))
		}
		return out
	}
	one := []string{project("tide").Key}
	want := []string{mainID[:4] + " 0 edit false", mainID[:4] + " 1 read true", mainID[:4] + " 2 command false", mainID[:4] + " 3 command false"}
	for _, path := range []string{"/w/pay/retry.go", "pay/retry.go", "./pay/retry.go"} {
		equal(t, path, history(archive.HistoryFilter{Path: path, Projects: one}), want)
	}
	equal(t, "by its name alone", history(archive.HistoryFilter{Path: "retry.go", Projects: one}), append(want[:4:4], mainID[:4]+" 4 command false"))
	equal(t, "of all projects", len(history(archive.HistoryFilter{Path: "pay/retry.go"})), 8)
	equal(t, "changes only", history(archive.HistoryFilter{Path: "pay/retry.go", Projects: one, Kinds: []archive.CallKind{archive.CallEdit}}), want[:1])
	equal(t, "later ones only", history(archive.HistoryFilter{Path: "pay/retry.go", Since: at(1000)}), nil)
	equal(t, "a part of a name is another file", history(archive.HistoryFilter{Path: "etry.go"}), nil)
	for _, path := range []string{"", "pay/"} {
		if _, err := s.History(t.Context(), archive.HistoryFilter{Path: path}); archive.ErrorCode(err) != archive.CodeInvalid {
			t.Errorf("%q: %v", path, err)
		}
	}
}
