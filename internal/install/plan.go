package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"strandline/internal/archive"
)

// Plan is a set of changes to be made.
type Plan struct {
	Files     []FileChange
	Warnings  []string // for the user, one sentence each
	Uninstall bool     // the plan removes entries
}

// FileChange is the change of one settings file.
type FileChange struct {
	Path    string // as the client names it
	Target  string // Path with symbolic links resolved
	Before  []byte // nil if the file does not exist
	After   []byte // nil if the file is deleted or does not exist
	Entries []EntryChange

	record record // in the manifest: after an init, before an uninstall
}

// EntryChange is the change of one entry.
type EntryChange struct {
	ID     string // "hook/Stop"
	Action Action
	Detail string // the command, for the user
}

// Action is the kind of a change.
type Action string

// The actions.
const (
	ActionAdd    Action = "add"
	ActionUpdate Action = "update"
	ActionKeep   Action = "keep"
	ActionRemove Action = "remove"
)

// Changed reports whether the plan changes a settings file.
func (p Plan) Changed() bool { return slices.ContainsFunc(p.Files, FileChange.Changed) }

// Changed reports whether the file's content changes.
func (f FileChange) Changed() bool {
	return !sameFile(f.Before, f.After)
}

// sameFile reports whether two contents are equal; nil is a missing file.
func sameFile(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// open reads the settings file of the scope and its record.
func (in *Installer) open() (f FileChange, err error) {
	if f.Path, err = in.opts.settingsPath(); err != nil {
		return f, err
	}
	if f.Target, err = resolveTarget(f.Path); err != nil {
		return f, err
	}
	if f.Before, err = readSettings(f.Target); err != nil {
		return f, err
	}
	m, err := readManifest(in.opts.Home)
	if err != nil {
		return f, err
	}
	f.After, f.record = f.Before, m.Files[f.Path]
	return f, nil
}

// Plan returns the changes of an init and writes nothing. The error has CodeInvalid
// if the settings are not JSON or not what the client expects.
func (in *Installer) Plan() (Plan, error) {
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
		var action Action
		wanted := in.opts.wanted(e)
		if wanted {
			if action, err = e.put(doc, f.record.Entries[e.id()]); err == nil {
				written[e.id()], err = json.Marshal(e.value())
			}
		} else {
			action, err = e.drop(doc, base)
		}
		if err != nil {
			return p, inFile(f.Path, err)
		}
		if wanted || action != ActionKeep {
			f.Entries = append(f.Entries, EntryChange{ID: e.id(), Action: action, Detail: e.detail()})
		}
	}
	f.After = doc.src
	if f.record, err = in.newRecord(f); err != nil {
		return p, err
	}
	f.record.Entries = written
	p.Files = []FileChange{f}
	p.Warnings = in.warnings(f.Path, doc)
	return p, nil
}

// newRecord returns the record of a file after the init. Its original is the file
// before the first init or, if the file changed since, the current file without
// Strandline's entries.
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
		if old.Created && without.bare() {
			r.Created, r.CreatedDir = old.Created, old.CreatedDir
		} else {
			r.Original = without.src
		}
	}
	r.BeforeSHA256 = checksum(r.Original)
	return r, nil
}

// without returns the current settings without Strandline's entries.
func (in *Installer) without(f FileChange) (*settingsDoc, []EntryChange, error) {
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

// PlanUninstall returns the changes of an uninstall and writes nothing.
func (in *Installer) PlanUninstall() (Plan, error) {
	p := Plan{Uninstall: true}
	f, err := in.open()
	if err != nil {
		return p, err
	}
	if f.Before != nil {
		exact := f.record.AfterSHA256 == checksum(f.Before)
		doc, changes, err := in.without(f)
		if err != nil && !exact {
			return p, err
		}
		f.Entries = changes
		base := f.record.base()
		switch bare := err == nil && len(changes) > 0 && doc.bare() && base != nil && base.bare(); {
		case !exact && !bare:
			f.After = doc.src
		case f.record.Created:
			f.After = nil
		default:
			f.After = append([]byte{}, f.record.Original...)
		}
	}
	p.Files = []FileChange{f}
	return p, nil
}

// base returns the document before init, nil if it is unknown.
func (r record) base() *settingsDoc {
	if r.AfterSHA256 == "" {
		return nil
	}
	doc, _ := parseDoc(r.Original)
	return doc
}

// parse parses a settings file.
func parse(path string, data []byte) (*settingsDoc, error) {
	doc, err := parseDoc(data)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeInvalid, Msg: path + " is not valid JSON", Err: err, Hint: "correct the file; nothing was changed"}
	}
	return doc, nil
}

// inFile adds a file's name to an error.
func inFile(path string, err error) error {
	if archive.ErrorCode(err) == archive.CodeInternal {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	return &archive.Error{Code: archive.ErrorCode(err), Msg: path, Err: err}
}

// warnings returns what the user should know about the planned settings.
func (in *Installer) warnings(path string, doc *settingsDoc) []string {
	var list []string
	if notice := doc.notice(); notice != "" {
		list = append(list, fmt.Sprintf("%s holds %s; clients that expect plain JSON ignore the whole file", path, notice))
	}
	if strings.Contains(in.opts.Exe, "go-build") {
		list = append(list, in.opts.Exe+" is a temporary binary: install strandline first")
	}
	return list
}

// Diff returns the changes in unified form, "" if there are none. It ignores line
// ends and byte order marks.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, f := range p.Files {
		if !f.Changed() {
			continue
		}
		from, to := f.Target, f.Target
		if f.Before == nil {
			from = "/dev/null"
		}
		if f.After == nil {
			to = "/dev/null"
		}
		_, text, _ := bytes.Cut(diff.Diff(from, normalize(f.Before), to, normalize(f.After)), []byte("\n"))
		b.Write(text)
	}
	return b.String()
}

// normalize returns a file's text with a line end "\n" after every line.
func normalize(data []byte) []byte {
	text := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
		text = append(text, '\n')
	}
	return text
}
