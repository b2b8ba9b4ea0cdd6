package sessionlog

import (
	"context"
	"errors"
	"io"
	"iter"

	"strandline/internal/archive"
)

var errSkel = errors.New("not built yet")

type Source struct{ Inode uint64 }

type Position struct {
	Raw              int64
	Lines            int
	Head, Tail       uint64
	HeadLen, TailLen int
	Inode            uint64
}

type Log struct{}

func Open(ctx context.Context, path string, h Header) (*Log, error)   { return nil, errSkel }
func (l *Log) Header() Header                                         { return Header{} }
func (l *Log) Position() Position                                     { return Position{} }
func (l *Log) Repaired() int64                                        { return 0 }
func (l *Log) Append(ctx context.Context, p []byte, src Source) error { return errSkel }
func (l *Log) Blank(ctx context.Context, lines ...int) error          { return errSkel }
func (l *Log) Close() error                                           { return nil }
func ReadPosition(path string) (Position, error)                      { return Position{}, errSkel }

type Reader struct{}

func OpenReader(path string) (*Reader, error)                            { return nil, errSkel }
func (r *Reader) Header() Header                                         { return Header{} }
func (r *Reader) Position() Position                                     { return Position{} }
func (r *Reader) ReadAt(p []byte, off int64) (int, error)                { return 0, errSkel }
func (r *Reader) NewSection(off, n int64) io.Reader                      { return nil }
func (r *Reader) OffsetOfLine(ctx context.Context, n int) (int64, error) { return 0, errSkel }
func (r *Reader) WriteTo(w io.Writer) (int64, error)                     { return 0, errSkel }
func (r *Reader) Close() error                                           { return nil }

type Match int

const (
	Unreadable Match = iota
	Same
	Grown
	Rewritten
)

func Compare(src io.ReaderAt, size int64, pos Position) Match { return Unreadable }

type SealReport struct {
	Done          bool
	Before, After int64
	Frames        int
	Blanked       int64
}

func Seal(ctx context.Context, path string) (SealReport, error) { return SealReport{}, errSkel }

type VerifyReport struct {
	Raw     int64
	Lines   int
	Frames  int
	Size    int64
	Torn    int64
	Blanked int64
	Sealed  bool
	SHA256  [32]byte
}

func Verify(ctx context.Context, path string) (VerifyReport, error) { return VerifyReport{}, errSkel }

type Layout struct{ Root string }

type Entry struct {
	Path       string
	Client     string
	Slug       string
	Session    string
	Rel        string
	Generation int
}

func (l Layout) Transcript(client, slug, session string, gen int) string           { return "" }
func (l Layout) Child(client, slug, session, rel string) string                    { return "" }
func (l Layout) ChildGeneration(client, slug, session, rel string, gen int) string { return "" }
func (l Layout) Find(client, session string) ([]Entry, error)                      { return nil, errSkel }
func (l Layout) Children(client, slug, session string) ([]Entry, error)            { return nil, errSkel }
func (l Layout) Walk(ctx context.Context) iter.Seq2[Entry, error]                  { return nil }

type Journal struct{ Dir string }

type JournalCursor struct {
	Offsets map[string]int64 `json:"offsets,omitempty"`
	Bad     int              `json:"bad,omitempty"`
}

func (j Journal) Append(ctx context.Context, entries ...archive.JournalEntry) error { return errSkel }
func (j Journal) Read(ctx context.Context, from JournalCursor) ([]archive.JournalEntry, JournalCursor, error) {
	return nil, from, errSkel
}
