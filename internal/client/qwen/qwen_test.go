package qwen_test

import (
	"testing"

	"strandline/internal/client/clienttest"
	"strandline/internal/client/qwen"
)

func TestSample(t *testing.T) { clienttest.Golden(t, qwen.New) }

func FuzzTranslate(f *testing.F) { clienttest.Fuzz(f, qwen.New) }
