package install

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	numbered := func(change ...string) string {
		list := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}
		for i := 0; i < len(change); i += 2 {
			for j, line := range list {
				if line == change[i] {
					list[j] = change[i+1]
				}
			}
		}
		return strings.Join(list, "\n") + "\n"
	}
	for _, tc := range []struct {
		name   string
		before *string
		after  *string
		want   string
	}{
		{"nothing", ptr("a\n"), ptr("a\n"), ""},
		{"a new file", nil, ptr("a\nb\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a deleted file", ptr("a\nb\n"), nil, "--- f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"an appended line", ptr("a\n"), ptr("a\nb\n"), "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+b\n"},
		{"a deleted line", ptr("a\nb\nc\n"), ptr("a\nc\n"), "--- f\n+++ f\n@@ -1,3 +1,2 @@\n a\n-b\n c\n"},
		{"Windows line ends", ptr("a\r\n"), ptr("a\r\nb\r\n"), "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+b\n"},
		{"two changes apart", ptr(numbered()), ptr(numbered("2", "x", "15", "y")), "--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -12,5 +12,5 @@\n 12\n 13\n 14\n-15\n+y\n 16\n"},
		{"two changes close by", ptr(numbered()), ptr(numbered("5", "x", "9", "y")), "--- f\n+++ f\n@@ -2,11 +2,11 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n-9\n+y\n 10\n 11\n 12\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := Plan{Path: "p", Target: "f", Before: bytesOf(tc.before), After: bytesOf(tc.after)}
			if got := f.Diff(); got != tc.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

func ptr(s string) *string { return &s }

func bytesOf(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

func TestGitAppliesTheDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, tc := range variants() {
		if strings.ContainsAny(tc.before, "\r\ufeff") || !strings.HasSuffix(tc.before, "\n") || tc.before == "\n\n" {
			continue // the diff does not show line ends
		}
		p := newPlace(t)
		p.write(tc.before)
		plan, err := New(p.opts).Plan()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--unsafe-paths", "-p1", "-")
		cmd.Dir = filepath.Dir(p.settings)
		patch := plan.Diff()
		patch = strings.Replace(patch, "--- "+p.settings, "--- a/settings.json", 1)
		patch = strings.Replace(patch, "+++ "+p.settings, "+++ b/settings.json", 1)
		cmd.Stdin = strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", tc.name, err, out, patch)
			continue
		}
		if got, _ := p.read(); got != string(plan.After) {
			t.Errorf("%s: git made\n%s", tc.name, got)
		}
	}
}

func TestHugeDiff(t *testing.T) {
	before := strings.Repeat("a\n", 3000)
	after := strings.Repeat("b\n", 3000)
	f := Plan{Target: "f", Before: []byte(before), After: []byte(after)}
	if got := strings.Count(f.Diff(), "\n"); got != 6003 {
		t.Errorf("%d lines", got)
	}
}
