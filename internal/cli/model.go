package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/embed/onnx"
)

func (a *commands) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "model", Short: "Add, choose and remove embedding models",
		Long: `Add, choose and remove embedding models. Semantic search works without any: a table of
word vectors is built in. A model in the ONNX format, such as all-MiniLM-L6-v2, gives
better vectors; strandline-onnx runs it, in maintenance runs, never in a hook.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelAddCommand(), a.modelListCommand(), a.modelUseCommand(), a.modelRemoveCommand())
	return cmd
}

func (a *commands) modelAddCommand() *cobra.Command {
	var req onnx.AddRequest
	cmd := &cobra.Command{
		Use: "add FILE|URL", Short: "Add a model from a file or an https address",
		Long: `Add a model from a file or an https address: the .onnx file of a BERT-like model with a
lower-case vocabulary, and its vocab.txt, by default from the same place. Its checksum is
compared with --sha256, or recorded; a file that changes later is not used. An
interrupted download continues when the same command is run again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	cmd.Flags().StringVar(&req.Name, "name", "", "the model's name here (default: that of the file)")
	cmd.Flags().StringVar(&req.Vocab, "vocab", "", "its vocab.txt, a file or an address (default: beside the model)")
	cmd.Flags().StringVar(&req.SHA256, "sha256", "", "the expected checksum of the model's file, 64 hexadecimal digits")
	return cmd
}

func (a *commands) modelListCommand() *cobra.Command {
	return query(a, &cobra.Command{
		Use: "list", Short: "List embedding models and how many passages have their vectors",
	}, func(ctx context.Context, _ []string) ([]app.Model, error) { return a.app.Models(ctx) }, func(models []app.Model) error {
		t := newTable("NAME", "KIND", "USED", "PASSAGES", "SIZE", "EMBEDDER")
		for _, m := range models {
			used, bytes := "", ""
			if m.Used {
				used = "yes"
			}
			if m.Bytes > 0 {
				bytes = size(m.Bytes)
			}
			t.row(m.Name, m.Kind, used, fmt.Sprint(m.Passages), bytes, m.Embedder)
		}
		return t.write(a.out, a.width())
	})
}

func (a *commands) modelUseCommand() *cobra.Command {
	return a.action(&cobra.Command{
		Use: "use NAME", Short: "Choose the embedding model beside the built-in table",
		Long: `Choose the embedding model beside the built-in table: an added model, http for the
endpoint in embed.url, or static for the table alone. Passages keep their vectors;
` + "`strandline maintain`" + ` computes the missing ones.`,
	}, func(ctx context.Context, args []string) (string, error) {
		file, err := a.app.UseModel(ctx, args[0])
		return fmt.Sprintf("embed.model = %s in %s", args[0], file), err
	})
}

func (a *commands) modelRemoveCommand() *cobra.Command {
	return a.action(&cobra.Command{Use: "remove NAME", Short: "Delete a model's files and its vectors"},
		func(ctx context.Context, args []string) (string, error) {
			return args[0] + " removed", a.app.RemoveModel(ctx, args[0])
		})
}
