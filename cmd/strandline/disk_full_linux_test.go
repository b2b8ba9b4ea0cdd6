package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a disk that is nearly full, a reindex or a deletion is done or changes nothing.
func TestNearlyFullDisk(t *testing.T) {
	d := newDeletions(t, true)
	archive, filler := d.path("archive"), d.path("archive/filler")
	if err := errors.Join(os.RemoveAll(archive), os.Mkdir(archive, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"reindex"}, {"forget", doomed, "--yes"}, {"forget", "7f3a12cd/1", "--yes"}} {
		done, refused := 0, 0
		for free := int64(0); done < 2; free += 32 << 10 {
			if err := syscall.Mount("tmpfs", archive, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
				t.Skipf("cannot mount a small file system: %v", err)
			}
			func() {
				defer func() {
					if err := syscall.Unmount(archive, 0); err != nil {
						t.Error(err)
					}
				}()
				if err := os.CopyFS(archive, os.DirFS(d.path("before"))); err != nil {
					t.Fatal(err)
				}
				d.leaveFree(archive, filler, free)
				code, out := d.run(args...)
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				if status, text := d.run("status"); status != 0 {
					t.Fatalf("%v with %d KB free ends with %d\n%s\nand then status with %d\n%s", args, free>>10, code, out, status, text)
				}
				d.whole(spared)
				if code == 0 {
					done++
					return
				}
				refused++
				_, markers := os.Stat(d.path("archive/forgotten"))
				_, parts := os.Stat(d.path("archive/forgotten-parts"))
				if !d.isWhole(doomed) || markers == nil || parts == nil {
					t.Errorf("%v with %d KB free ends with %d and has begun\n%s", args, free>>10, code, out)
				}
				if show, text := d.run("show", doomed); show != 0 || !strings.Contains(text, "the first of three") {
					t.Errorf("%v with %d KB free: show ends with %d\n%s", args, free>>10, show, text)
				}
			}()
			if t.Failed() || free > 3<<20 {
				t.Fatalf("%v: %d refused, %d done", args, refused, done)
			}
		}
		if refused < 4 {
			t.Errorf("%v was refused %d times only", args, refused)
		}
		t.Logf("%v: refused %d times", args, refused)
	}
}

// A push to a full disk and a pull onto one say so; with more space the same command
// completes them.
func TestExchangeOnAFullDisk(t *testing.T) {
	m := newMachines(t)
	m.work("laptop", 30)
	d := &deletions{t: t}
	for _, c := range []struct {
		who, what, disk string
		step            int64
	}{{"laptop", "push", m.path("place"), 12 << 10}, {"desk", "pull", m.path("desk", "archive"), 160 << 10}} {
		refused := 0
		for free := int64(0); ; free += c.step {
			if err := errors.Join(os.MkdirAll(c.disk, 0o700), syscall.Mount("tmpfs", c.disk, "tmpfs", 0, "size=4m,mode=0700")); err != nil {
				t.Skipf("cannot mount a small file system: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(c.disk, 0) }) // the last one stays for the next step
			filler := filepath.Join(c.disk, "filler")
			d.leaveFree(c.disk, filler, free)
			out, err := m.command(c.who, "archive", c.what, m.path("place")).CombinedOutput()
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			if err == nil {
				break
			}
			if refused++; !strings.Contains(string(out), "free") && !strings.Contains(string(out), "space") {
				t.Errorf("%s with %d KB free: %s", c.what, free>>10, out)
			}
			m.must(c.who, "archive", c.what, m.path("place"))
			if c.what == "pull" {
				m.equal(fmt.Sprintf("pulled with %d KB free", free>>10))
			}
			if err := syscall.Unmount(c.disk, 0); err != nil || t.Failed() || free > 3<<20 {
				t.Fatalf("%s: %v", c.what, err)
			}
			if c.what == "push" {
				_ = os.RemoveAll(m.path("laptop", "archive", "state", "machines")) // of the place that is gone
			}
		}
		if refused < 1 {
			t.Errorf("%s was never refused", c.what)
		}
		t.Logf("%s was refused %d times", c.what, refused)
	}
	m.equal("at the end")
}

// leaveFree fills a file system up to some free bytes.
func (d *deletions) leaveFree(dir, filler string, free int64) {
	d.t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		d.t.Fatal(err)
	}
	size := int64(fs.Bavail)*fs.Bsize - free
	if err := os.WriteFile(filler, make([]byte, max(size, 0)), 0o600); err != nil {
		d.t.Fatal(err)
	}
}
