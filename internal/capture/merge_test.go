package capture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
)

// partsOf cuts a version of a session's transcript at the given offsets.
func partsOf(version string, cuts ...int) (parts []capture.Part, texts [][]byte) {
	sum := func(n int) string {
		s := sha256.Sum256([]byte(version[:n]))
		return hex.EncodeToString(s[:])
	}
	from := 0
	for _, to := range append(cuts, len(version)) {
		if to <= from || to > len(version) {
			continue
		}
		p := capture.Part{
			Slug: "-home-ann-shop", File: "s1", Generation: 1, From: int64(from), To: int64(to), After: sum(to),
			Header: sessionlog.Header{Client: "claude", Session: "s1", Slug: "-home-ann-shop", Kind: sessionlog.KindTranscript, Created: time.Unix(1, 0).UTC(), Generation: 1},
		}
		if from > 0 {
			p.Before = sum(from)
		}
		parts, texts, from = append(parts, p), append(texts, []byte(version[from:to])), to
	}
	return parts, texts
}

// versions returns the generations of session s1.
func versions(t interface{ Fatal(...any) }, c *capture.Capture) (out []string) {
	logs, err := c.Layout.Find("claude", "s1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range logs {
		r, err := sessionlog.OpenReader(e.Path)
		if archive.ErrorCode(err) == archive.CodeNotFound {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, r.Position().Raw)
		if n, err := r.ReadAt(b, 0); n < len(b) {
			t.Fatal(err)
		}
		_ = r.Close()
		out = append(out, string(b))
	}
	return out
}

func mergeTarget(dir string) *capture.Capture {
	return &capture.Capture{Layout: sessionlog.Layout{Root: dir}, Now: func() time.Time { return time.Unix(2, 0) }}
}

// Parts of any versions, in any order and repeated, leave every version whole, and nothing
// that no version has.
func TestMergeConverges(t *testing.T) {
	dir, run := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		c := mergeTarget(fmt.Sprintf("%s/%d", dir, run))
		word := rapid.StringMatching(`[ab]{1,4}`)
		var all []string
		var parts []capture.Part
		var texts [][]byte
		for range rapid.IntRange(1, 3).Draw(t, "versions") {
			v := word.Draw(t, "text")
			if len(all) > 0 { // continues a part of an earlier one
				other := rapid.SampledFrom(all).Draw(t, "of")
				v = other[:rapid.IntRange(0, len(other)).Draw(t, "shared")] + v
			}
			all = append(all, v)
			p, x := partsOf(v, rapid.IntRange(0, len(v)).Draw(t, "cut"))
			parts, texts = append(parts, p...), append(texts, x...)
		}
		merge := func(i int) capture.Merged {
			m, err := c.Merge(t.Context(), parts[i], texts[i])
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		for range 4 {
			for _, i := range rapid.Permutation(indices(parts)).Draw(t, "order") {
				merge(i)
			}
		}
		got := versions(t, c)
		for _, v := range all {
			if !containsPrefix(got, v) {
				t.Fatalf("%q is lost: %q", v, got)
			}
		}
		for _, g := range got {
			if !containsPrefix(all, g) {
				t.Fatalf("%q was never written: %q", g, all)
			}
		}
		for i := range parts {
			if m := merge(i); m != (capture.Merged{}) {
				t.Fatalf("merged again: %+v", m)
			}
		}
	})
}

func indices[T any](list []T) (out []int) {
	for i := range list {
		out = append(out, i)
	}
	return out
}

// containsPrefix reports whether a text begins with a prefix.
func containsPrefix(texts []string, prefix string) bool {
	for _, s := range texts {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// A version that continues the local one grows its log; one that differs begins a
// generation with the common start, and the local one stays.
func TestMergeGrowsOrDiverges(t *testing.T) {
	c := mergeTarget(t.TempDir())
	for _, step := range []struct {
		version string
		cuts    []int
		part    int
		want    capture.Merged
		have    []string
	}{
		{"one\n", nil, 0, capture.Merged{Added: 4, Created: true}, []string{"one\n"}},
		{"one\ntwo\n", nil, 0, capture.Merged{Added: 4}, []string{"one\ntwo\n"}},
		{"one\n", nil, 0, capture.Merged{}, []string{"one\ntwo\n"}},
		{"one\ntwo\nsix\nten\n", []int{8, 12}, 2, capture.Merged{Early: true}, []string{"one\ntwo\n"}},
		{"one\nfive\n", []int{4}, 1, capture.Merged{Added: 5, Created: true, Diverged: true}, []string{"one\ntwo\n", "one\nfive\n"}},
		{"one\ntwo\nsix\n", []int{8}, 1, capture.Merged{Added: 4, Created: true, Diverged: true}, []string{"one\ntwo\n", "one\nfive\n", "one\ntwo\nsix\n"}},
	} {
		parts, texts := partsOf(step.version, step.cuts...)
		got, err := c.Merge(t.Context(), parts[step.part], texts[step.part])
		if err != nil || got != step.want {
			t.Errorf("%q: %+v, %v, want %+v", step.version, got, err, step.want)
		}
		if have := versions(t, c); strings.Join(have, "|") != strings.Join(step.have, "|") {
			t.Errorf("%q: %q, want %q", step.version, have, step.have)
		}
	}
}

// A part with other bytes than its checksum is not merged, a deleted session stays deleted.
func TestMergeRejects(t *testing.T) {
	c := mergeTarget(t.TempDir())
	parts, _ := partsOf("one\n")
	if _, err := c.Merge(t.Context(), parts[0], []byte("two\n")); archive.ErrorCode(err) != archive.CodeCorrupt {
		t.Errorf("wrong bytes: %v", err)
	}
	if err := c.Forgotten().Done("s1"); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Merge(t.Context(), parts[0], []byte("one\n")); err != nil || m != (capture.Merged{}) {
		t.Errorf("a deleted session: %+v, %v", m, err)
	}
	if got := versions(t, c); len(got) > 0 {
		t.Errorf("logs: %q", got)
	}
}

// Names from another machine never lead out of the folder of logs.
func TestPackNames(t *testing.T) {
	for name, change := range map[string]func(p *capture.Part){
		"folder":     func(p *capture.Part) { p.Slug = "../.." },
		"side file":  func(p *capture.Part) { p.Rel, p.Header.Kind = "../../x", sessionlog.KindSide },
		"absolute":   func(p *capture.Part) { p.Rel, p.Header.Kind = "/etc/passwd", sessionlog.KindSide },
		"client":     func(p *capture.Part) { p.Header.Client = "../claude" },
		"no client":  func(p *capture.Part) { p.Header.Client = "" },
		"session":    func(p *capture.Part) { p.Header.Session = "../../s" },
		"file":       func(p *capture.Part) { p.File = "s2" },
		"agent":      func(p *capture.Part) { p.Header.Agent = "../a" },
		"journal":    func(p *capture.Part) { p.Header.Kind = sessionlog.KindJournal },
		"generation": func(p *capture.Part) { p.Generation = 0 },
		"length":     func(p *capture.Part) { p.To = 1 << 40 },
		"backwards":  func(p *capture.Part) { p.From = 5 },
		"negative":   func(p *capture.Part) { p.From, p.To = -4, 0 },
		"none":       func(*capture.Part) {},
	} {
		parts, texts := partsOf("one\n")
		change(&parts[0])
		data, err := capture.Pack{Session: "s1", Parts: parts, Texts: texts}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := capture.DecodePack(data); (err == nil) != (name == "none") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodePack(f *testing.F) {
	parts, texts := partsOf("one\ntwo\n", 4)
	data, err := capture.Pack{Session: "s1", Forgot: []string{"a"}, Parts: parts, Texts: texts, Facts: []archive.JournalEntry{{ID: "x"}}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := capture.DecodePack(data)
		if err != nil {
			return
		}
		for i, part := range p.Parts {
			if int64(len(p.Texts[i])) != part.To-part.From {
				t.Errorf("part %d has %d bytes", i, len(p.Texts[i]))
			}
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := capture.DecodePack(again)
		if err != nil || len(q.Parts) != len(p.Parts) || !bytes.Equal(bytes.Join(q.Texts, nil), bytes.Join(p.Texts, nil)) {
			t.Errorf("decoded again: %v", err)
		}
	})
}
