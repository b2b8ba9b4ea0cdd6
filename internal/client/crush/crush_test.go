package crush_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/crush"
)

func TestSample(t *testing.T) { clienttest.Golden(t, crush.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, crush.New) }
