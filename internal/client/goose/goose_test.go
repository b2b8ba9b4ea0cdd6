package goose_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/goose"
)

func TestSample(t *testing.T) { clienttest.Golden(t, goose.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, goose.New) }
