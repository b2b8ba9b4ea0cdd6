package embed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"strandline/internal/archive"
)

// VectorReader is what building an index needs of a store.
type VectorReader interface {
	VectorSets(ctx context.Context) ([]archive.VectorSet, error)
	Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error
}

// builder gathers rows and writes blocks of them.
type builder struct {
	w    io.Writer
	head header

	passages []int64
	signs    []uint64
	vectors  []byte
}

func newBuilder(w io.Writer, head header) *builder { return &builder{w: w, head: head} }

// add takes one passage's row of the store.
func (b *builder) add(r archive.VectorRow) error {
	var failed error
	err := Unpack(r.Data, b.head.set.Dim, func(scale float32, row []byte) {
		if failed == nil {
			failed = b.addVector(r.Passage, scale, row)
		}
	})
	return errors.Join(err, failed)
}

func (b *builder) addVector(passage int64, scale float32, row []byte) error {
	b.passages = append(b.passages, passage)
	b.signs = signs(b.signs, len(row), func(i int) bool { return int8(row[i]) > 0 })
	b.vectors = binary.LittleEndian.AppendUint32(b.vectors, math.Float32bits(scale))
	b.vectors = append(b.vectors, row...)
	if len(b.passages) == blockRows {
		return b.flush()
	}
	return nil
}

// flush writes what has been gathered as one block.
func (b *builder) flush() error {
	rows := len(b.passages)
	if rows == 0 {
		return nil
	}
	at := layout(rows, b.head.set.Dim)
	out := make([]byte, at.end)
	le := binary.LittleEndian
	for i, p := range b.passages {
		le.PutUint64(out[at.passages+8*i:], uint64(p))
	}
	for i, w := range b.signs {
		le.PutUint64(out[at.signs+8*i:], w)
	}
	copy(out[at.vectors:], b.vectors)
	copy(out, blockMagic)
	le.PutUint32(out[4:], uint32(rows))
	le.PutUint32(out[8:], crc32.Checksum(out[blockHeader:], castagnoli()))
	if _, err := b.w.Write(out); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	b.head.size += int64(len(out))
	b.head.vectors += int64(rows)
	b.head.blocks++
	b.passages, b.signs, b.vectors = b.passages[:0], b.signs[:0], b.vectors[:0]
	return nil
}

// readAtOnce is how many rows are read from the store in one snapshot; a hook
// that wants to write waits no longer than that takes.
const readAtOnce = 16_384

// fill adds the rows of a set behind head.set.Last.
func (b *builder) fill(ctx context.Context, src VectorReader, set archive.VectorSet) error {
	for last := b.head.set.Last; last < set.Last; {
		n := 0
		err := src.Vectors(ctx, set.Embedder, set.Dim, last, readAtOnce, func(r archive.VectorRow) error {
			n++
			last = r.No
			return b.add(r)
		})
		if err != nil {
			return err
		}
		if n < readAtOnce {
			break
		}
	}
	return b.flush()
}

// write makes a new file at path: content writes the blocks.
func write(path string, set archive.VectorSet, content func(*builder) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of vectors: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".vectors-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	b := newBuilder(f, header{set: set, size: headerSize})
	b.head.set.Last = 0
	if err := content(b); err != nil {
		return err
	}
	b.head.set = set
	if err := putHeader(f, &b.head); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("put vectors in place: %w", err)
	}
	return nil
}

func putHeader(f *os.File, h *header) error {
	b, err := h.encode()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write the header of vectors: %w", err)
	}
	return nil
}
