package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"strandline/internal/capture"
	"strandline/internal/state"
)

// placeState is what this archive knows of the packs in a place, and the checksums of its
// own logs: lines of JSON, of which the last with a name counts. It is derived: without it,
// a push reads the packs of the sessions that it is about to push.
type placeState struct {
	path  string // without an extension
	file  *os.File
	packs map[string]knownPack
	logs  map[string]knownLog
	lost  bool // the place had packs and has none now
}

// knownPack is the head of a pack.
type knownPack struct {
	Name    string      `json:"pack,omitempty"`
	Applied bool        `json:"applied,omitempty"` // this archive has its content
	Forgot  []string    `json:"forgot,omitempty"`
	Facts   []string    `json:"facts,omitempty"` // IDs
	Parts   []knownPart `json:"parts,omitempty"`
}

type knownPart struct {
	Log    string `json:"log"` // see logKey
	From   int64  `json:"from,omitempty"`
	To     int64  `json:"to"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// knownLog is the checksum of a log's raw bytes while its file is unchanged.
type knownLog struct {
	Path string `json:"file,omitempty"`
	Size int64  `json:"size,omitempty"`
	Time int64  `json:"time,omitempty"` // of the last change, in nanoseconds
	Raw  int64  `json:"raw,omitempty"`
	Sum  string `json:"sum,omitempty"`
}

type stateLine struct {
	knownPack
	knownLog
}

// logKey names a log in every archive: the folder of the project may differ.
func logKey(client, session, rel string) string { return client + "/" + session + "/" + rel }

func packKnown(name string, p capture.Pack, applied bool) knownPack {
	k := knownPack{Name: name, Applied: applied, Forgot: p.Forgot}
	for _, f := range p.Facts {
		k.Facts = append(k.Facts, f.ID)
	}
	for _, part := range p.Parts {
		key := logKey(part.Header.Client, part.File, part.Rel)
		k.Parts = append(k.Parts, knownPart{key, part.From, part.To, part.Before, part.After})
	}
	return k
}

// openPlaceState reads what is known of the packs in a place.
func (w Workspace) openPlaceState(address string, packs map[string]int64) (*placeState, error) {
	s := &placeState{path: filepath.Join(w.machinesDir(), packSum([]byte(address))), packs: map[string]knownPack{}, logs: map[string]knownLog{}}
	data, err := os.ReadFile(s.path + ".jsonl")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state of %s: %w", address, err)
	}
	lines := 0
	for line := range bytes.Lines(data) {
		var l stateLine
		if lines++; json.Unmarshal(line, &l) != nil {
			continue // a process was killed while it wrote it
		}
		if l.Name != "" {
			s.packs[l.Name] = l.knownPack
		} else if l.Path != "" {
			s.logs[l.Path] = l.knownLog
		}
	}
	had := len(s.packs)
	for name := range s.packs {
		if _, ok := packs[name]; !ok {
			delete(s.packs, name)
		}
	}
	s.lost = had > 0 && len(packs) == 0
	if live := len(s.packs) + len(s.logs); lines > 2*live+100 && !s.lost {
		if err := s.rewrite(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, fmt.Errorf("write the state of %s: %w", address, err)
	}
	if s.file, err = os.OpenFile(s.path+".jsonl", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("write the state of %s: %w", address, err)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		_, err = s.file.WriteString("\n")
	}
	return s, err
}

// rewrite drops the lines that do not count any more.
func (s *placeState) rewrite() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, p := range s.packs {
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("encode the state of a place: %w", err)
		}
	}
	for _, l := range s.logs {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("encode the state of a place: %w", err)
		}
	}
	return state.Replace(s.path+".jsonl", b.Bytes())
}

func (s *placeState) append(line any) error {
	data, err := json.Marshal(line)
	if err == nil {
		_, err = s.file.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the state of a place: %w", err)
	}
	return nil
}

func (s *placeState) addPack(p knownPack) error {
	s.packs[p.Name] = p
	return s.append(p)
}

func (s *placeState) addLog(l knownLog) error {
	s.logs[l.Path] = l
	return s.append(l)
}

func (s *placeState) close() error { return s.file.Close() }

// reach returns the checksums that packs of a session reach, by log and offset: of
// every offset up to which all pieces are there. Packs that skip rejects do not count.
func (s *placeState) reach(names []string, skip func(knownPack) bool) map[string]map[int64][]string {
	var parts []knownPart
	for _, name := range names {
		if p := s.packs[name]; !skip(p) {
			parts = append(parts, p.Parts...)
		}
	}
	slices.SortFunc(parts, func(a, b knownPart) int { return cmp.Compare(a.From, b.From) })
	out := map[string]map[int64][]string{}
	for _, p := range parts {
		if p.From > 0 && !slices.Contains(out[p.Log][p.From], p.Before) {
			continue
		}
		if out[p.Log] == nil {
			out[p.Log] = map[int64][]string{}
		}
		out[p.Log][p.To] = append(out[p.Log][p.To], p.After)
	}
	return out
}
