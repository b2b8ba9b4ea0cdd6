package install

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestFolderInsteadOfSettings(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.settings, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := New(p.opts).Plan()
	wantCode(t, err, archive.CodeInvalid)
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestSymbolicLinkIsKept(t *testing.T) {
	p := newPlace(t)
	dotfiles := t.TempDir()
	target := filepath.Join(dotfiles, "claude.json")
	symlink(t, target, filepath.Join(dotfiles, "step"))
	symlink(t, filepath.Join(dotfiles, "step"), p.settings)
	if err := os.WriteFile(target, []byte(someSettings), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	plan := p.init()
	if f := plan; f.Path != p.settings || f.Target != target {
		t.Errorf("path %s, target %s", f.Path, f.Target)
	}
	if info, err := os.Lstat(p.settings); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v", info.Mode())
	}
	if data, err := os.ReadFile(target); err != nil || !strings.Contains(string(data), "strandline hook") {
		t.Errorf("the target holds %q, %v", data, err)
	}
	p.uninstall()
	if data, err := os.ReadFile(target); err != nil || string(data) != someSettings {
		t.Errorf("the target holds %q, %v", data, err)
	}
}

func TestDanglingLink(t *testing.T) {
	p := newPlace(t)
	target := filepath.Join(t.TempDir(), "dotfiles", "claude.json")
	symlink(t, target, p.settings)
	p.init()
	if _, err := os.Stat(target); err != nil {
		t.Error(err)
	}
	p.uninstall()
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Errorf("the target is still there: %v", err)
	}
	if _, err := os.Lstat(p.settings); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
}

func TestCircularLink(t *testing.T) {
	p := newPlace(t)
	symlink(t, p.settings, p.settings)
	_, err := New(p.opts).Plan()
	wantCode(t, err, archive.CodeInvalid)
}

func TestReadOnlySettingsAreKept(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	if err := os.Chmod(p.settings, 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := New(p.opts).Apply(t.Context(), Plan{})
	wantCode(t, err, archive.CodeDenied)
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}
