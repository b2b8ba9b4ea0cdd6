package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// place is where packs are exchanged: one folder per session with files that are never
// changed. Names are valid for packName; one of another form is rejected.
type place interface {
	// List returns the packs with their sizes in bytes. A missing place is empty.
	List(ctx context.Context) (map[string]int64, error)
	// Read returns a pack of at most maxPackFile bytes.
	Read(ctx context.Context, name string) ([]byte, error)
	// Write writes a pack so that it is there completely, on disk, or not at all.
	Write(ctx context.Context, name string, data []byte) error
	// Remove deletes a pack. A missing one is not an error.
	Remove(ctx context.Context, name string) error
	Close() error
}

// maxPackFile limits the size of a pack's file in bytes.
const maxPackFile = 64 << 20

// journalGroup is the folder of facts that belong to no session. No session has this name.
const journalGroup = "+journal"

// sealedExt ends the names of encrypted packs.
const sealedExt = ".age"

// newPackName returns the name of a pack: the time orders packs of one session, the
// checksum of the content tells a damaged one.
func newPackName(group string, at time.Time, data []byte, sealed bool) string {
	name := fmt.Sprintf("%s/%012x-%s.zst", group, at.UnixMilli(), packSum(data))
	if sealed {
		name += sealedExt
	}
	return name
}

func packSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// packName splits the name of a pack into its folder and the checksum of its content. It
// reports false for another name: such a file is left alone.
func packName(name string) (group, sum string, ok bool) {
	group, file, _ := strings.Cut(name, "/")
	m := regexp.MustCompile(`^[0-9a-f]{12}-([0-9a-f]{32})\.zst(\.age)?$`).FindStringSubmatch(file)
	if m == nil || group != journalGroup && group != (sessionlog.Layout{}).Name(group) {
		return "", "", false
	}
	return group, m[1], true
}

func errPackName(name string) error {
	return archive.Invalid(fmt.Sprintf("%q is not the name of a pack", archive.Clip(name, 80)), "")
}

// folderPlace is a place in a folder of this machine.
type folderPlace struct {
	dir string
	now func() time.Time
}

func (f folderPlace) path(name string) (string, error) {
	if _, _, ok := packName(name); !ok {
		return "", errPackName(name)
	}
	return filepath.Join(f.dir, filepath.FromSlash(name)), nil
}

// List implements place.
func (f folderPlace) List(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	groups, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	for _, g := range groups {
		if !g.IsDir() || err != nil {
			continue
		}
		if err = ctx.Err(); err != nil {
			break
		}
		var files []os.DirEntry
		files, err = os.ReadDir(filepath.Join(f.dir, g.Name()))
		for _, d := range files {
			name := g.Name() + "/" + d.Name()
			if _, _, ok := packName(name); !ok || !d.Type().IsRegular() {
				f.sweep(name, d)
			} else if info, ierr := d.Info(); ierr == nil { // else deleted meanwhile
				out[name] = info.Size()
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.dir, err)
	}
	return out, nil
}

// sweep removes a temporary file of a process that was killed long ago.
func (f folderPlace) sweep(name string, d os.DirEntry) {
	if info, err := d.Info(); err == nil && strings.HasPrefix(d.Name(), state.TempPrefix) && d.Type().IsRegular() && f.now().Sub(info.ModTime()) > 24*time.Hour {
		_ = os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))) // the next listing tries again
	}
}

// Read implements place.
func (f folderPlace) Read(_ context.Context, name string) ([]byte, error) {
	path, err := f.path(name)
	if err != nil {
		return nil, err
	}
	data, err := state.ReadRegular(path, maxPackFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Write implements place.
func (f folderPlace) Write(_ context.Context, name string, data []byte) error {
	path, err := f.path(name)
	if err == nil {
		err = state.ReplaceSynced(path, data)
	}
	if err != nil {
		return &archive.Error{
			Code: archive.CodeDenied, Msg: "cannot write to " + f.dir, Err: err,
			Hint: "check its permissions and its free space; the same command continues",
		}
	}
	return nil
}

// Remove implements place.
func (f folderPlace) Remove(_ context.Context, name string) error {
	path, err := f.path(name)
	if err == nil {
		err = state.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	_ = os.Remove(filepath.Dir(path)) // fails unless it is empty
	return nil
}

// Close implements place.
func (folderPlace) Close() error { return nil }

// openPlace opens a place by its address: a folder, or ssh://[user@]host[:port]/path. It
// returns the address without what differs between two spellings of it. A folder is not
// created here, but the one above it has to exist: a disk may not be mounted.
func (a *App) openPlace(ctx context.Context, address string) (place, string, error) {
	scheme, _, isURL := strings.Cut(address, "://")
	if !isURL {
		dir := a.Abs(address)
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return nil, "", archive.Invalid(dir+" is not a folder", "")
		}
		if _, err := os.Stat(filepath.Dir(dir)); err != nil {
			return nil, "", &archive.Error{Code: archive.CodeNotFound, Msg: "the folder " + filepath.Dir(dir) + " does not exist", Err: err, Hint: "is the disk mounted?"}
		}
		if home := a.archiveHome(); dir == home || strings.HasPrefix(home+string(filepath.Separator), dir+string(filepath.Separator)) ||
			strings.HasPrefix(dir, home+string(filepath.Separator)) {
			return nil, "", archive.Invalid(dir+" holds this archive itself", "name another folder")
		}
		return folderPlace{dir, a.Now}, dir, nil
	}
	u, err := url.Parse(address)
	if err != nil || scheme != "ssh" {
		return nil, "", archive.Invalid("the address is not a folder or ssh://[user@]host/path", "other stores: copy the folder with their own tool, such as rclone; its files never change")
	}
	p, err := a.dialPlace(ctx, u)
	return p, u.String(), err
}

func (a *App) archiveHome() string {
	cfg, _ := a.Settings() // a rejected setting does not concern the folder
	return cfg.Paths.Home
}
