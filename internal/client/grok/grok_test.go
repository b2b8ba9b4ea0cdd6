package grok_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/grok"
)

func TestSample(t *testing.T) { clienttest.Golden(t, grok.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, grok.New) }
