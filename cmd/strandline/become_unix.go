//go:build lean && unix

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// become replaces this process by another program, so that nobody waits between
// it and the client.
func become(_ context.Context, path string, args []string) error {
	if err := syscall.Exec(path, append([]string{path}, args...), os.Environ()); err != nil { //nolint:gosec // our own program, beside this one
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}
