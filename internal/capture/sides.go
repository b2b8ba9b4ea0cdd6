package capture

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/state"
)

// loggedSides are the side files of a session that are logged, each as a hash of its name
// and one of its name, size and time. A hook reads them instead of the logs of a thousand
// sub-agents.
type loggedSides struct {
	store   state.Store
	session string
	before  []uint64 // sorted, as stored
	now     []uint64
	partly  bool // not all files are compared, and now has all of before
}

// maxSidesFile limits the bytes read of a session's file: 128,000 side files.
const maxSidesFile = 2 << 20

// maxCompared is the number of side files in a folder that a hook compares with their logs. Of more it
// reads the names only, and leaves growing ones to the catch-up, which follows each Stop:
// the sizes of 2,000 files take 3 ms.
const maxCompared = 128

// LoggedSidesDir is the folder of a small file per session with side files. If one is
// lost, a hook reads the logs again.
func (c *Capture) LoggedSidesDir() string { return filepath.Join(c.Layout.Root, "state", "sides") }

func (c *Capture) loggedSides(session string) *loggedSides {
	s := &loggedSides{store: state.Store{Dir: c.LoggedSidesDir(), MaxSize: maxSidesFile}, session: session}
	data, err := s.store.Read(session)
	if err != nil {
		return s // none is known
	}
	for ; len(data) >= 8; data = data[8:] {
		s.before = append(s.before, binary.LittleEndian.Uint64(data))
	}
	return s
}

// fileKey identifies the content of a side file, 0 if the file cannot be read.
func fileKey(src Source) uint64 {
	info, err := os.Lstat(src.Path)
	if err != nil {
		return 0
	}
	b := append(make([]byte, 0, 128), src.Rel...)
	b = strconv.AppendInt(append(b, 0), info.Size(), 36)
	b = strconv.AppendInt(append(b, 0), info.ModTime().UnixNano(), 36)
	return xxhash.Sum64(b)
}

// known reports whether some version of a file is logged, which stays recorded then.
func (s *loggedSides) known(rel []byte) bool {
	key := xxhash.Sum64(rel)
	if !s.has(key) {
		return false
	}
	if !s.partly {
		s.partly, s.now = true, append(s.now, s.before...)
	}
	return true
}

func (s *loggedSides) has(key uint64) bool {
	_, ok := slices.BinarySearch(s.before, key)
	return ok
}

// add records that a file's content, with a key, is logged.
func (s *loggedSides) add(f Source, key uint64) {
	s.now = append(s.now, xxhash.Sum64String(f.Rel), key)
}

// save stores the recorded keys. On failure the next call reads the logs again.
func (s *loggedSides) save() {
	slices.Sort(s.now)
	s.now = slices.Compact(s.now)
	if slices.Equal(s.now, s.before) {
		return
	}
	data := make([]byte, 0, 8*len(s.now))
	for _, key := range s.now {
		data = binary.LittleEndian.AppendUint64(data, key)
	}
	_ = s.store.Write(s.session, data)
}
