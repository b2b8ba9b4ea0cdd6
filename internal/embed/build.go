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

// VectorReader is the part of a store that the files are built from.
type VectorReader interface {
	VectorSets(ctx context.Context) ([]archive.VectorSet, error)
	Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error
}

// builder collects rows and writes them as blocks.
type builder struct {
	w    io.Writer
	head header

	passages []int64
	signs    []uint64
	vectors  []byte
}

// add adds the vectors of one passage.
func (b *builder) add(r archive.VectorRow) error {
	return Unpack(r.Data, b.head.set.Dim, func(scale float32, row []byte) error { return b.addVector(r.Passage, scale, row) })
}

func (b *builder) addVector(passage int64, scale float32, row []byte) error {
	b.passages = append(b.passages, passage)
	b.signs = appendBits(b.signs, len(row), func(i int) bool { return int8(row[i]) > 0 })
	b.vectors = binary.LittleEndian.AppendUint32(b.vectors, math.Float32bits(scale))
	b.vectors = append(b.vectors, row...)
	if len(b.passages) == blockRows {
		return b.flush()
	}
	return nil
}

// flush writes the collected rows as one block.
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

// readBatch is the number of rows read from the store in one snapshot. A hook that
// wants to write waits for at most one batch.
const readBatch = 16_384

// fill adds the rows of a set after head.set.Last and flushes.
func (b *builder) fill(ctx context.Context, src VectorReader, set archive.VectorSet) error {
	for last := b.head.set.Last; last < set.Last; {
		n := 0
		err := src.Vectors(ctx, set.Embedder, set.Dim, last, readBatch, func(r archive.VectorRow) error {
			n++
			last = r.No
			return b.add(r)
		})
		if err != nil {
			return err
		}
		if n < readBatch {
			break
		}
	}
	return b.flush()
}

// create replaces the file at path by a new one. content writes its blocks.
func create(path string, set archive.VectorSet, content func(*builder) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the vectors folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*") // mode 0600
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	b := &builder{w: f, head: header{set: set, size: headerSize}}
	b.head.set.Last = 0
	if err := b.write(f, set, content); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return archive.Wrap("replace the vectors", os.Rename(f.Name(), path))
}

// write writes blocks after the valid part of f, then the header of set.
func (b *builder) write(f *os.File, set archive.VectorSet, content func(*builder) error) error {
	if _, err := f.Seek(b.head.size, io.SeekStart); err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	if err := content(b); err != nil {
		return err
	}
	b.head.set = set
	head, err := b.head.encode()
	if err != nil {
		return err
	}
	_, err = f.WriteAt(head, 0)
	return archive.Wrap("write the header of vectors", err)
}
