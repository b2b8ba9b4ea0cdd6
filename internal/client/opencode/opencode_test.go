package opencode_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/opencode"
)

func TestSample(t *testing.T) { clienttest.Golden(t, opencode.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, opencode.New) }
