package roo_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/roo"
)

func TestSample(t *testing.T) { clienttest.Golden(t, roo.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, roo.New) }
