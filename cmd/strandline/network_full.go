//go:build !lean

package main

import (
	"context"
	"errors"

	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/embed/remote"
)

// endpoint returns what asks an embedding endpoint.
func endpoint() func(url, name, key string, redact func(string) string, attempts int) (embed.Embedder, error) {
	return func(url, name, key string, redact func(string) string, attempts int) (embed.Embedder, error) {
		e, err := remote.NewEndpoint(remote.EndpointOptions{URL: url, Model: name, Key: key, Redact: redact, Attempts: attempts})
		if err != nil {
			return nil, err // no embedder, not one that is a nil pointer
		}
		return e, nil
	}
}

func fetch() onnx.Fetch { return remote.Fetch }

// companion has nobody to hand over to: this is the full program.
func companion(context.Context) error { return errors.New("this program is the companion itself") }

// findCompanion finds none: this build leaves nothing out.
func findCompanion() (string, error) { return "", nil }
