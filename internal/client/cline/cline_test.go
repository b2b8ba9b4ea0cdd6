package cline_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/cline"
)

func TestSample(t *testing.T) { clienttest.Golden(t, cline.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, cline.New) }
