package droid_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/droid"
)

func TestSample(t *testing.T) { clienttest.Golden(t, droid.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, droid.New) }
