package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"strandline/internal/archive"
)

// Plan is the change of one settings file.
type Plan struct {
	Path      string // as the client names it
	Target    string // Path with symbolic links resolved
	Before    []byte // nil if the file does not exist
	After     []byte // nil if the file is deleted or does not exist
	Entries   []EntryChange
	Parts     []Part   // of an init: what it connects
	Warnings  []string // for the user, one sentence each
	Uninstall bool     // the plan removes entries

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

// Changed reports whether the file's content changes.
func (p Plan) Changed() bool { return !sameFile(p.Before, p.After) }

// sameFile reports whether two contents are equal; nil is a missing file.
func sameFile(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// open reads the settings file of the scope and its record.
func (in *Installer) open() (p Plan, err error) {
	if p.Path, err = in.opts.settingsPath(); err != nil {
		return p, err
	}
	if p.Target, err = resolveTarget(p.Path); err != nil {
		return p, err
	}
	if p.Before, err = readSettings(p.Target); err != nil {
		return p, err
	}
	m, err := readManifest(in.opts.Home)
	if err != nil {
		return p, err
	}
	p.After, p.record = p.Before, m.Files[p.Path]
	return p, nil
}

// Plan returns the changes of an init and writes nothing. The error has CodeInvalid
// if the client cannot read the settings or expects other values.
func (in *Installer) Plan() (Plan, error) {
	if !absolute(in.opts.Exe, in.opts.GOOS) {
		return Plan{}, archive.Invalid("the path of the strandline binary is not known", "call it by its full path")
	}
	p, err := in.open()
	if err != nil {
		return p, err
	}
	if strings.Contains(in.opts.Exe, "go-build") {
		p.Warnings = append(p.Warnings, in.opts.Exe+" is a temporary binary: install strandline first")
	}
	put := in.putEntries
	switch f := in.opts.File; {
	case f.Whole != "":
		put = in.putWhole
	case isTOML(f.Path):
		put = in.putTable
	}
	written, err := put(&p)
	if err != nil {
		return p, err
	}
	r, err := in.newRecord(p)
	p.record, p.record.Entries = r, written
	if s := in.opts.Client.Setup; s.Note != "" && len(in.opts.File.Hooks)+len(in.opts.File.Whole) > 0 && (p.Changed() || !in.opts.allTrusted()) {
		p.Warnings = append(p.Warnings, s.Note)
	}
	return p, err
}

// putEntries plans the entries of a JSON file and returns their values.
func (in *Installer) putEntries(p *Plan) (map[string]json.RawMessage, error) {
	doc, err := parse(p.Path, p.Before)
	if err != nil {
		return nil, err
	}
	if notice := doc.notice(); notice != "" && in.opts.File.Main {
		return nil, archive.Invalid(p.Path+" holds "+notice+", so the client ignores all of it", "remove them, then run the command again; nothing was changed")
	}
	written := map[string]json.RawMessage{}
	base := p.record.base()
	for _, e := range entries(in.opts, p.record.Exe) {
		var action Action
		if e.wanted {
			if action, err = e.put(doc, p.record.Entries[e.id]); err == nil {
				written[e.id], err = json.Marshal(e.value)
			}
		} else {
			action, err = e.drop(doc, base)
		}
		if err != nil {
			return nil, inFile(p.Path, err)
		}
		if e.wanted || action != ActionKeep {
			p.Entries = append(p.Entries, EntryChange{ID: e.id, Action: action, Detail: e.detail})
		}
	}
	p.After = doc.src
	p.Parts = in.parts(*p, doc)
	return written, nil
}

// newRecord returns the record of a file after the init. Its original is the file
// before the first init or, if the file changed since, the current file without
// Strandline's entries.
func (in *Installer) newRecord(p Plan) (record, error) {
	old := p.record
	r := record{Target: p.Target, Exe: in.opts.Exe, Time: in.opts.Now().UTC(), AfterSHA256: checksum(p.After)}
	switch {
	case p.Before == nil:
		_, err := os.Stat(filepath.Dir(p.Target))
		r.Created, r.CreatedDir = true, errors.Is(err, os.ErrNotExist)
	case old.AfterSHA256 == checksum(p.Before):
		r.Created, r.CreatedDir, r.Original = old.Created, old.CreatedDir, old.Original
	default:
		without, bare, _, err := in.without(p)
		if err != nil {
			return r, err
		}
		if old.Created && bare {
			r.Created, r.CreatedDir = old.Created, old.CreatedDir
		} else {
			r.Original = without
		}
	}
	r.BeforeSHA256 = checksum(r.Original)
	return r, nil
}

// without returns the current settings without Strandline's entries, and whether nothing
// else is in them.
func (in *Installer) without(p Plan) ([]byte, bool, []EntryChange, error) {
	switch f := in.opts.File; {
	case f.Whole != "":
		rest, bare, changes := withoutWhole(p)
		return rest, bare, changes, nil
	case isTOML(f.Path):
		src, changes, err := in.withoutTable(p)
		return src, len(bytes.TrimSpace(src)) == 0, changes, err
	}
	doc, err := parse(p.Path, p.Before)
	if err != nil {
		return nil, false, nil, err
	}
	base := p.record.base()
	var changes []EntryChange
	for _, e := range entries(in.opts, p.record.Exe) {
		action, err := e.drop(doc, base)
		if err != nil {
			return nil, false, nil, inFile(p.Path, err)
		}
		if action != ActionKeep {
			changes = append(changes, EntryChange{ID: e.id, Action: action, Detail: e.detail})
		}
	}
	return doc.src, doc.bare(), changes, nil
}

// PlanUninstall returns the changes of an uninstall and writes nothing.
func (in *Installer) PlanUninstall() (Plan, error) {
	p, err := in.open()
	p.Uninstall = true
	if err != nil || p.Before == nil {
		return p, err
	}
	if in.opts.File.Main && in.opts.Scope == ScopeUser {
		in.notePlugin(&p)
	}
	exact := p.record.AfterSHA256 == checksum(p.Before)
	rest, empty, changes, err := in.without(p)
	if err != nil && !exact {
		return p, err
	}
	p.Entries = changes
	switch bare := err == nil && len(changes) > 0 && empty && p.record.bare(); {
	case !exact && !bare:
		p.After = rest
	case p.record.Created:
		p.After = nil
	default:
		p.After = append([]byte{}, p.record.Original...)
	}
	return p, nil
}

// bare reports whether the file before init had no value.
func (r record) bare() bool {
	base := r.base()
	return r.Created || base != nil && base.bare()
}

// notePlugin adds a warning if the client lists the plugin itself.
func (in *Installer) notePlugin(p *Plan) {
	listed, err := os.ReadFile(filepath.Join(in.opts.ClientDir, "plugins", "installed_plugins.json"))
	if err == nil && bytes.Contains(listed, []byte(pluginName)) {
		p.Warnings = append(p.Warnings, "the client has its own list of plugins; `claude plugin uninstall "+pluginName+
			"` and `claude plugin marketplace remove "+pluginMarket+"` take Strandline's out")
	}
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

// Diff returns the changes in unified form, "" if there are none. It ignores line
// ends and byte order marks.
func (p Plan) Diff() string {
	if !p.Changed() {
		return ""
	}
	from, to := p.Target, p.Target
	if p.Before == nil {
		from = "/dev/null"
	}
	if p.After == nil {
		to = "/dev/null"
	}
	_, text, _ := bytes.Cut(diff.Diff(from, normalize(p.Before), to, normalize(p.After)), []byte("\n"))
	return string(text)
}

// normalize returns a file's text with a line end "\n" after every line.
func normalize(data []byte) []byte {
	text := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
		text = append(text, '\n')
	}
	return text
}
