package copilot_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/copilot"
)

func TestSample(t *testing.T) { clienttest.Golden(t, copilot.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, copilot.New) }
