//go:build lean

package main

import (
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

// The network is the companion's: linking it would cost every hook's start.

func endpoint() func(url, name, key string, redact func(string) string, attempts int) (embed.Embedder, error) {
	return nil
}

func fetch() onnx.Fetch { return nil }
