package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/install/jsonc"
)

// Plan is a set of changes that has not been made yet.
type Plan struct {
	Files    []FileChange
	Warnings []string // things the user should know, one sentence each
	// Uninstall says that the plan takes entries out.
	Uninstall bool
}

// FileChange is what happens to one settings file.
type FileChange struct {
	Path    string // as the client names it
	Target  string // the file behind symbolic links, equal to Path without one
	Before  []byte // nil if there is no such file
	After   []byte // nil if the file goes, or is not there
	Entries []EntryChange

	record record // what the manifest says afterwards, or said before an uninstall
}

// EntryChange is what happens to one entry.
type EntryChange struct {
	ID     string // "hook/Stop"
	Action Action
	Detail string // the command, for people
}

// Action says what happens to an entry.
type Action string

// The actions.
const (
	ActionAdd    Action = "add"
	ActionUpdate Action = "update"
	ActionKeep   Action = "keep"
	ActionRemove Action = "remove"
)

// Changed reports whether applying the plan changes any settings file.
func (p Plan) Changed() bool {
	for _, f := range p.Files {
		if f.Changed() {
			return true
		}
	}
	return false
}

// Changed reports whether the file will be another one.
func (f FileChange) Changed() bool {
	return (f.Before == nil) != (f.After == nil) || !bytes.Equal(f.Before, f.After)
}

// Plan works out what init would change and writes nothing. Settings that are no
// JSON, or not what the client expects, give an Error with CodeInvalid.
func (in *Installer) Plan() (Plan, error) { return in.plan() }

// PlanUninstall works out what uninstall would change and writes nothing.
func (in *Installer) PlanUninstall() (Plan, error) { return in.planUninstall() }

// open reads the settings file of the scope and what is known about it.
func (in *Installer) open() (FileChange, error) {
	var f FileChange
	path, err := in.opts.settingsPath()
	if err != nil {
		return f, err
	}
	target, err := resolveTarget(path)
	if err != nil {
		return f, err
	}
	before, err := readSettings(target)
	if err != nil {
		return f, err
	}
	m, err := readManifest(in.opts.Home)
	if err != nil {
		return f, err
	}
	return FileChange{Path: path, Target: target, Before: before, After: before, record: m.Files[path]}, nil
}

func (in *Installer) plan() (Plan, error) {
	p := Plan{}
	if !absolute(in.opts.Exe, in.opts.GOOS) {
		return p, archive.Invalid("the path of the strandline binary is not known", "call it by its full path")
	}
	f, err := in.open()
	if err != nil {
		return p, err
	}
	doc, err := parse(f.Path, f.Before)
	if err != nil {
		return p, err
	}
	written := map[string]json.RawMessage{}
	base := f.record.base()
	for _, e := range entries(in.opts, f.record.Exe) {
		if !in.opts.wanted(e) {
			action, err := e.drop(doc, base)
			if err != nil {
				return p, inFile(f.Path, err)
			}
			if action != ActionKeep {
				f.Entries = append(f.Entries, EntryChange{ID: e.id(), Action: action, Detail: e.detail()})
			}
			continue
		}
		action, err := e.put(doc, f.record.Entries[e.id()])
		if err != nil {
			return p, inFile(f.Path, err)
		}
		if written[e.id()], err = json.Marshal(e.value()); err != nil {
			return p, fmt.Errorf("encode entry %s: %w", e.id(), err)
		}
		f.Entries = append(f.Entries, EntryChange{ID: e.id(), Action: action, Detail: e.detail()})
	}
	f.After = doc.Bytes()
	if f.record, err = in.newRecord(f); err != nil {
		return p, err
	}
	f.record.Entries = written
	p.Files = []FileChange{f}
	p.Warnings = in.warnings(f.Path, doc)
	return p, nil
}

// newRecord says what the manifest has to know about a file once it is written.
// The original is what stood there before the first init; if others have changed
// the file since, it is what stands there now without our entries.
func (in *Installer) newRecord(f FileChange) (record, error) {
	old := f.record
	r := record{Target: f.Target, Exe: in.opts.Exe, Time: in.opts.Now().UTC(), AfterSHA256: checksum(f.After)}
	switch {
	case f.Before == nil:
		_, err := os.Stat(filepath.Dir(f.Target))
		r.Created, r.CreatedDir = true, errors.Is(err, os.ErrNotExist)
	case old.AfterSHA256 == checksum(f.Before):
		r.Created, r.CreatedDir, r.Original = old.Created, old.CreatedDir, old.Original
	default:
		without, _, err := in.without(f)
		if err != nil {
			return r, err
		}
		if old.Created && without.Bare() {
			r.Created, r.CreatedDir = old.Created, old.CreatedDir
		} else {
			r.Original = without.Bytes()
		}
	}
	r.BeforeSHA256 = checksum(r.Original)
	return r, nil
}

// without returns the settings as they stand, less our entries.
func (in *Installer) without(f FileChange) (*jsonc.Doc, []EntryChange, error) {
	doc, err := parse(f.Path, f.Before)
	if err != nil {
		return nil, nil, err
	}
	base := f.record.base()
	var changes []EntryChange
	for _, e := range entries(in.opts, f.record.Exe) {
		action, err := e.drop(doc, base)
		if err != nil {
			return nil, nil, inFile(f.Path, err)
		}
		if action != ActionKeep {
			changes = append(changes, EntryChange{ID: e.id(), Action: action, Detail: e.detail()})
		}
	}
	return doc, changes, nil
}

func (in *Installer) planUninstall() (Plan, error) {
	p := Plan{Uninstall: true}
	f, err := in.open()
	if err != nil {
		return p, err
	}
	p.Files = []FileChange{f}
	file := &p.Files[0]
	if f.Before == nil {
		return p, nil
	}
	exact := f.record.AfterSHA256 == checksum(f.Before)
	doc, changes, err := in.without(f)
	if err != nil && !exact {
		return p, err
	}
	file.Entries = changes
	switch {
	case exact:
		file.After = f.record.original()
	case len(changes) > 0 && doc.Bare() && f.record.empty():
		file.After = f.record.original()
	default:
		file.After = doc.Bytes()
	}
	return p, nil
}

// original is the file as it was before init, nil if there was none.
func (r record) original() []byte {
	if r.Created {
		return nil
	}
	return append([]byte{}, r.Original...)
}

// base is the document as it was before init, nil if that is not known.
func (r record) base() *jsonc.Doc {
	if r.AfterSHA256 == "" {
		return nil
	}
	doc, err := jsonc.Parse(r.Original)
	if err != nil {
		return nil
	}
	return doc
}

// empty reports whether the file held no settings before init.
func (r record) empty() bool {
	doc, err := jsonc.Parse(r.Original)
	return r.AfterSHA256 != "" && err == nil && doc.Bare()
}

// parse reads a settings document.
func parse(path string, data []byte) (*jsonc.Doc, error) {
	doc, err := jsonc.Parse(data)
	if err != nil {
		return nil, &archive.Error{
			Code: archive.CodeInvalid, Msg: path + " is not valid JSON", Err: err,
			Hint: "correct it there; nothing was changed",
		}
	}
	return doc, nil
}

// inFile names the file that an error is about.
func inFile(path string, err error) error {
	if archive.ErrorCode(err) == archive.CodeInternal {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	return &archive.Error{Code: archive.ErrorCode(err), Msg: path, Err: err}
}

// warnings tells what is odd about the settings that the plan leaves.
func (in *Installer) warnings(path string, doc *jsonc.Doc) []string {
	var list []string
	if notice := doc.Notice(); notice != "" {
		list = append(list, fmt.Sprintf("%s holds %s, and a client that wants plain JSON passes over the whole file", path, notice))
	}
	if strings.Contains(in.opts.Exe, "go-build") {
		list = append(list, in.opts.Exe+" is a temporary binary that will be gone: install it first")
	}
	return list
}
