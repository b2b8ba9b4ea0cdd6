//go:build lean

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// become runs another program in this one's place and ends as it ended.
func become(ctx context.Context, path string, args []string) error {
	cmd := exec.CommandContext(ctx, path, args...) // our own program, beside this one
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
