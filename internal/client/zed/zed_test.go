package zed_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/zed"
)

func TestSample(t *testing.T) { clienttest.Golden(t, zed.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, zed.New) }
