package cursor_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/cursor"
)

func TestSample(t *testing.T) { clienttest.Golden(t, cursor.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, cursor.New) }
