package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
)

// ExchangeOptions select what ArchivePush and ArchivePull do.
type ExchangeOptions struct {
	Place      string   // a folder, or ssh://[user@]host[:port]/path
	Recipients []string // public keys to encrypt for; none: packs are not encrypted
	Identity   string   // path of the file with the secret keys
	DryRun     bool     // change nothing
	Again      bool     // push to a place that lost its packs
	// Progress, unless nil, is called with the number of finished sessions.
	Progress func(done, all int)
}

// ExchangeReport is the outcome of ArchivePush or ArchivePull.
type ExchangeReport struct {
	Place     string   `json:"place"`
	Sessions  int      `json:"sessions"` // with new bytes; pulls and dry runs: with new packs
	New       int      `json:"new"`      // of Sessions, those that the other side did not have
	Unchanged int      `json:"unchanged"`
	Bytes     int64    `json:"bytes"` // of transcripts and other files that are new
	Packs     int      `json:"packs"` // written, or read
	Stored    int64    `json:"stored_bytes"`
	Facts     int      `json:"facts"`              // entries of the journal
	Diverged  int      `json:"diverged"`           // logs that got a generation, because both sides changed them
	Deleted   []string `json:"deleted,omitempty"`  // sessions deleted for good, there or here
	Outdated  int      `json:"outdated,omitempty"` // packs that still hold what was deleted here
	Sealed    bool     `json:"encrypted"`
	Failed    []string `json:"failed,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
	TookMS    int64    `json:"took_ms"`
}

// Exchanged is when this archive was last exchanged with a place.
type Exchanged struct {
	Place  string    `json:"place"`
	Pushed time.Time `json:"pushed,omitzero"`
	Pulled time.Time `json:"pulled,omitzero"`
}

// exchange is a push or a pull.
type exchange struct {
	Workspace
	ExchangeOptions
	app   *App
	place place
	known *placeState
	packs map[string]int64 // in the place
	names []string         // of packs, sorted; some may be deleted
	keys  []byte           // content of Identity
	out   ExchangeReport
	last  time.Time // in the name of the newest pack of this push
}

// withPlace calls do with an open place, unless another exchange is running.
func (a *App) withPlace(ctx context.Context, o ExchangeOptions, do func(x *exchange) error) (out ExchangeReport, err error) {
	start := a.Now()
	if a.Cipher == nil && (len(o.Recipients) > 0 || o.Identity != "") {
		return out, ErrNotLinked
	}
	err = a.locked("machines", "push or pull", func(w Workspace) (err error) {
		x := &exchange{Workspace: w, ExchangeOptions: o, app: a}
		if o.Identity != "" {
			if x.keys, err = state.ReadRegular(a.Abs(o.Identity), 1<<20); err != nil {
				return archive.Invalid("the identity file cannot be read: "+ErrorText(err), "age-keygen writes one")
			}
		}
		if len(o.Recipients) > 0 {
			if _, err := a.Cipher.Encrypt(nil, o.Recipients); err != nil {
				return archive.Invalid("cannot encrypt: "+err.Error(), "--recipient takes a public key such as age1...; age-keygen makes one")
			}
		}
		p, address, err := a.openPlace(ctx, o.Place)
		if err != nil {
			return err
		}
		x.place, x.out.Place, x.out.DryRun, x.out.Sealed = p, address, o.DryRun, len(o.Recipients) > 0
		defer func() { err = errors.Join(err, p.Close()) }()
		if x.packs, err = p.List(ctx); err != nil {
			return err
		}
		x.names = slices.Sorted(maps.Keys(x.packs))
		if x.known, err = w.openPlaceState(address, x.packs); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.known.close()) }()
		err = do(x)
		x.out.TookMS = a.Now().Sub(start).Milliseconds()
		out = x.out
		return err
	})
	return out, err
}

// read reads, checks and decodes a pack. An encrypted one needs the secret keys.
func (x *exchange) read(ctx context.Context, name string) (capture.Pack, error) {
	data, err := x.place.Read(ctx, name)
	if err != nil {
		return capture.Pack{}, err
	}
	group, sum, _ := packName(name)
	if packSum(data) != sum {
		return capture.Pack{}, &archive.Error{Code: archive.CodeCorrupt, Msg: "the file is damaged", Hint: "delete it, and push again from the machine that wrote it"}
	}
	if strings.HasSuffix(name, sealedExt) {
		if x.keys == nil {
			return capture.Pack{}, archive.Invalid("the packs are encrypted", "name the file with the secret key: --identity FILE")
		}
		if data, err = x.app.Cipher.Decrypt(data, x.keys); err != nil {
			return capture.Pack{}, archive.Invalid("the pack cannot be decrypted: "+err.Error(), "--identity names a file with the secret key of a recipient")
		}
	}
	p, err := capture.DecodePack(data)
	if err != nil {
		return p, err
	}
	l := x.Capture.Layout
	ok := p.Session == "" && group == journalGroup && len(p.Parts) == 0 || archive.ValidID(p.Session) && l.Name(p.Session) == group
	for _, part := range p.Parts {
		ok = ok && l.Name(part.Header.Session) == group
	}
	if !ok {
		return p, &archive.Error{Code: archive.CodeCorrupt, Msg: "the pack is in another session's folder"}
	}
	return p, nil
}

// salts returns what identifies the deleted parts of a session, and whether the deletion
// is finished.
func (w Workspace) salts(session string) (salts []string, done bool, err error) {
	of, err := w.Capture.ForgottenParts().Of(session)
	return archive.Convert(of.Parts, func(p archive.Part) string { return p.Salt }), !of.Open, err
}

// outdated reports whether a pack may hold a part that was deleted since.
func outdated(salts, forgot []string) bool {
	return slices.ContainsFunc(salts, func(s string) bool { return !slices.Contains(forgot, s) })
}

// done records the time of the exchange.
func (x *exchange) done(set func(e *Exchanged, now time.Time)) error {
	if x.DryRun {
		return nil
	}
	path := x.known.path + ".json"
	e := Exchanged{}
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &e) // a damaged file is replaced
	}
	e.Place = x.out.Place
	set(&e, x.app.Now().UTC())
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode the time of an exchange: %w", err)
	}
	return state.Replace(path, data)
}

// machinesDir holds, per place, what is known of it and when it was used.
func (w Workspace) machinesDir() string { return filepath.Join(w.Config.Paths.State(), "machines") }

// Exchanges lists the places that this archive was exchanged with, the latest first.
func (w Workspace) Exchanges() (out []Exchanged) {
	files, _ := filepath.Glob(filepath.Join(w.machinesDir(), "*.json")) // the pattern is valid
	for _, path := range files {
		var e Exchanged
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &e) == nil && e.Place != "" {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b Exchanged) int {
		return cmp.Or(latest(b.Pushed, b.Pulled).Compare(latest(a.Pushed, a.Pulled)), cmp.Compare(a.Place, b.Place))
	})
	return out
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
