package pi_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/pi"
)

func TestSample(t *testing.T) { clienttest.Golden(t, pi.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, pi.New) }
