package gemini_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/gemini"
)

func TestSample(t *testing.T) { clienttest.Golden(t, gemini.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, gemini.New) }
