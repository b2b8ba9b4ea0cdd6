package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// manifestVersion numbers the format of the manifest.
//
//	1: settings files with their original bytes and the entries written
const manifestVersion = 1

// manifest records what init wrote into which settings file, as install.json in
// Strandline's folder. It makes uninstall exact; without it, entries are identified
// by the command that they run.
type manifest struct {
	Version int               `json:"version"`
	Files   map[string]record `json:"files"` // by FileChange.Path
}

// record is the manifest's record of one settings file.
type record struct {
	Target       string                     `json:"target"`
	Exe          string                     `json:"exe"`
	Time         time.Time                  `json:"time,omitzero"`
	Created      bool                       `json:"created,omitempty"`     // the file did not exist
	CreatedDir   bool                       `json:"created_dir,omitempty"` // nor did its folder
	BeforeSHA256 string                     `json:"before_sha256"`         // of Original
	AfterSHA256  string                     `json:"after_sha256"`
	Original     []byte                     `json:"original"` // the file without Strandline's entries
	Entries      map[string]json.RawMessage `json:"entries"`  // by entry.id
}

func manifestPath(home string) string { return filepath.Join(home, "install.json") }

// readManifest reads the manifest. A missing or damaged one is empty: it must not
// prevent an uninstall.
func readManifest(home string) (*manifest, error) {
	empty := &manifest{Version: manifestVersion, Files: map[string]record{}}
	data, err := os.ReadFile(manifestPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, denied("the record of the installation cannot be read", err, "check the permissions of "+manifestPath(home))
	}
	m := manifest{}
	if err := json.Unmarshal(data, &m); err != nil || m.Files == nil {
		return empty, nil //nolint:nilerr // a damaged manifest counts as empty
	}
	if m.Version > manifestVersion {
		return nil, archive.Invalid("a newer strandline made the installation", "use that version, or update this one")
	}
	return &m, nil
}

// save writes the manifest, or removes an empty one.
func (m *manifest) save(home string) error {
	if len(m.Files) == 0 {
		if err := state.Remove(manifestPath(home)); err != nil {
			return denied("the record of the installation cannot be removed", err, writeHint(home))
		}
		return nil
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	if err := replaceFile(manifestPath(home), append(data, '\n'), 0o600, func() error { return nil }); err != nil {
		return denied("the record of the installation cannot be written", err, writeHint(home))
	}
	return nil
}

// Connected reports whether an init wrote the settings that o selects.
func Connected(o Options) bool {
	path, err := o.settingsPath()
	m, failed := readManifest(o.Home)
	if err != nil || failed != nil {
		return false
	}
	_, ok := m.Files[path]
	return ok
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
