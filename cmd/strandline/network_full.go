//go:build !lean

package main

import (
	"context"
	"errors"

	"strandline/internal/app"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
	"strandline/internal/embed/remote"
)

// requests implements app.Network.
type requests struct{}

func network() app.Network { return requests{} }

// Endpoint implements app.Network.
func (requests) Endpoint(url, name, key string, redact func(string) string, attempts int) (embed.Embedder, error) {
	e, err := remote.NewEndpoint(remote.EndpointOptions{URL: url, Model: name, Key: key, Redact: redact, Attempts: attempts})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Fetcher implements app.Network.
func (requests) Fetcher() onnx.Fetch { return remote.Fetch }

// companion has nobody to hand over to: this is the full program.
func companion(context.Context) error { return errors.New("this program is the companion itself") }

// findCompanion finds none: this build leaves nothing out.
func findCompanion() (string, error) { return "", nil }
