package amp_test

import (
	"testing"

	"strandline/internal/client/amp"
	"strandline/internal/client/clienttest"
)

func TestSample(t *testing.T) { clienttest.Golden(t, amp.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, amp.New) }
