package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/embed/onnx"
)

func (a *commands) modelCommand(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	addCommands(cmd,
		command{"", "add FILE|URL", "Add a model from a file or an https address", a.modelAddCommand},
		command{"", "list", "List embedding models and how many passages have their vectors", a.modelListCommand},
		command{"", "use NAME", "Choose the embedding model beside the built-in table", a.modelUseCommand},
		command{"", "remove NAME", "Delete a model's files and its vectors", a.modelRemoveCommand})
}

func (a *commands) modelAddCommand(cmd *cobra.Command) {
	var req onnx.AddRequest
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bar := a.newProgress("downloading")
		req.Model = args[0]
		req.Progress = func(what string, done, size int64) { bar.draw(done, max(done, size), what, done == size) }
		m, err := a.app.AddModel(cmd.Context(), req)
		bar.end()
		switch {
		case errors.Is(err, app.ErrNotLinked):
			return a.env.Companion(cmd.Context())
		case err != nil:
			return err
		}
		fmt.Fprintf(a.out, "%s added: %s, sha256 %s\n", m.Name, size(m.Model.Bytes), m.Model.SHA256)
		fmt.Fprintf(a.out, "`strandline model use %s`, then `strandline maintain` embeds the archive with it\n", m.Name)
		return nil
	}
	cmd.Flags().StringVar(&req.Name, "name", "", "the model's name here (default: that of the file)")
	cmd.Flags().StringVar(&req.Vocab, "vocab", "", "its vocab.txt, a file or an address (default: beside the model)")
	cmd.Flags().StringVar(&req.SHA256, "sha256", "", "the expected checksum of the model's file, 64 hexadecimal digits")
}

func (a *commands) modelListCommand(cmd *cobra.Command) {
	query(a, cmd, func(ctx context.Context, _ []string) ([]app.Model, error) { return a.app.Models(ctx) }, func(models []app.Model) error {
		t := newTable("NAME", "KIND", "USED", "PASSAGES", "SIZE", "EMBEDDER")
		return printTable(a, "", t, models, func(m app.Model) []string {
			used, bytes := "", ""
			if m.Used {
				used = "yes"
			}
			if m.Bytes > 0 {
				bytes = size(m.Bytes)
			}
			return []string{m.Name, m.Kind, used, fmt.Sprint(m.Passages), bytes, m.Embedder}
		})
	})
}

func (a *commands) modelUseCommand(cmd *cobra.Command) {
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		file, err := a.app.UseModel(ctx, args[0])
		return fmt.Sprintf("embed.model = %s in %s", args[0], file), err
	})
}

func (a *commands) modelRemoveCommand(cmd *cobra.Command) {
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		return args[0] + " removed", a.app.RemoveModel(ctx, args[0])
	})
}
