package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"strandline/internal/archive"
)

// Two servers of one archive have a token file each; the second takes the first one's
// after its end.
func TestServersHaveTheirOwnTokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "serve.token")
	take := func(want string) tokenFile {
		t.Helper()
		own, err := ownTokenFile(path)
		if err != nil || filepath.Base(own.path) != want {
			t.Fatalf("%+v, %v, want %s", own, err, want)
		}
		return own
	}
	first := take("serve.token")
	second := take("serve-2.token")
	if err := first.lock.Release(); err != nil {
		t.Fatal(err)
	}
	for _, own := range []tokenFile{take("serve.token"), second} {
		if err := own.lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTokenFileMustBeSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the mode of a file does not say who can read it")
	}
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]archive.Code{0o600: "", 0o400: "", 0o640: archive.CodeDenied, 0o604: archive.CodeDenied, 0o620: archive.CodeDenied} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := readToken(path); (err == nil) != (want == "") || err != nil && archive.ErrorCode(err) != want {
			t.Errorf("%o: %v, want %q", mode, err, want)
		}
	}
	if os.Geteuid() != 0 {
		return // only the superuser can give a file away
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(path); archive.ErrorCode(err) != archive.CodeDenied {
		t.Errorf("another user's file: %v", err)
	}
}
