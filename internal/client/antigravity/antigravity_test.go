package antigravity_test

import (
	"testing"

	"strandline/internal/client/antigravity"
	"strandline/internal/client/clienttest"
)

func TestSample(t *testing.T) { clienttest.Golden(t, antigravity.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, antigravity.New) }
