package kimi_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/kimi"
)

func TestSample(t *testing.T) { clienttest.Golden(t, kimi.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, kimi.New) }
