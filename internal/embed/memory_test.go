package embed

import (
	"context"

	"strandline/internal/archive"
)

// memory is a set of vectors without a store.
type memory struct {
	set  archive.VectorSet
	rows []archive.VectorRow
}

func (m *memory) len() int { return len(m.rows) }

func (m *memory) add(passage int64, data []byte) {
	m.set.Last++
	m.set.Rows++
	m.rows = append(m.rows, archive.VectorRow{No: m.set.Last, Passage: passage, Data: data})
}

func (m *memory) VectorSets(context.Context) ([]archive.VectorSet, error) {
	return []archive.VectorSet{m.set}, nil
}

func (m *memory) Vectors(ctx context.Context, _ string, _ int, after int64, limit int, row func(archive.VectorRow) error) error {
	n := 0
	from := 0
	if len(m.rows) > 0 && after >= m.rows[0].No {
		from = int(min(after-m.rows[0].No+1, int64(len(m.rows)))) // rows are dense in most tests
		for from > 0 && m.rows[from-1].No > after {
			from--
		}
	}
	for _, r := range m.rows[from:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.No > after {
			if err := row(r); err != nil {
				return err
			}
			if n++; n == limit {
				return nil
			}
		}
	}
	return nil
}
