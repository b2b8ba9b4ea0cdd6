package index

import (
	"context"
	"fmt"
)

// BatchWriter stores the parts of one batch.
type BatchWriter interface {
	// Due reports whether the batch is what comes next in its session, see Due.
	Due(ctx context.Context) (bool, error)
	Session(ctx context.Context) error
	Turns(ctx context.Context) error
	Steps(ctx context.Context) error
	Calls(ctx context.Context) error
	Files(ctx context.Context) error
	Tasks(ctx context.Context) error
	Compactions(ctx context.Context) error
	Passages(ctx context.Context) error
	Identities(ctx context.Context) error
	Cursor(ctx context.Context) error
}

// StoreBatch stores a session's batch if it is due, in the order in which its parts
// refer to each other.
func StoreBatch(ctx context.Context, session string, w BatchWriter) error {
	if due, err := w.Due(ctx); err != nil || !due {
		return err
	}
	for _, part := range []struct {
		what  string
		store func(context.Context) error
	}{
		{"session", w.Session},
		{"turns", w.Turns},
		{"steps", w.Steps},
		{"calls", w.Calls},
		{"files", w.Files},
		{"tasks", w.Tasks},
		{"compactions", w.Compactions},
		{"passages", w.Passages},
		{"identities", w.Identities},
		{"cursor", w.Cursor},
	} {
		if err := part.store(ctx); err != nil {
			return fmt.Errorf("store %s of %s: %w", part.what, session, err)
		}
	}
	return nil
}
