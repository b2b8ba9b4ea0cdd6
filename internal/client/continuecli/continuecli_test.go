package continuecli_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/continuecli"
)

func TestSample(t *testing.T) { clienttest.Golden(t, continuecli.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, continuecli.New) }
