package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

func (a *commands) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Add, choose and remove embedding models",
		Long: `Add, choose and remove embedding models. Searches for meaning work without any: a table
of word vectors is built in. A model in the ONNX format, such as all-MiniLM-L6-v2, makes
better ones; strandline-onnx runs it, in upkeep, never in a hook.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelAddCommand(), a.modelListCommand(), a.modelUseCommand(), a.modelRemoveCommand())
	return cmd
}

func (a *commands) modelAddCommand() *cobra.Command {
	var w onnx.AddRequest
	cmd := &cobra.Command{
		Use:   "add FILE|URL",
		Short: "Bring a model in, from a file or an https address",
		Long: `Bring a model in, from a file or an https address: the .onnx file of a BERT-like model
whose words are in small letters, and its vocab.txt, which is looked for beside it. Its
checksum is compared with --sha256, or noted; a file that changes later is not used. A
download that broke off goes on where it ended when the same command is run again.`,
		Args: arguments("FILE|URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Model = args[0]
			return a.modelAdd(cmd.Context(), w)
		},
	}
	cmd.Flags().StringVar(&w.Name, "name", "", "the model's name here (default: that of the file)")
	cmd.Flags().StringVar(&w.Vocab, "vocab", "", "its vocab.txt, a file or an address (default: beside the model)")
	cmd.Flags().StringVar(&w.SHA256, "sha256", "", "what the model's file must be, 64 hexadecimal digits")
	return cmd
}

func (a *commands) modelAdd(ctx context.Context, w onnx.AddRequest) error {
	if w.Vocab == "" {
		w.Vocab = besideModel(w.Model)
	}
	if w.Name == "" {
		base := filepath.Base(strings.SplitN(w.Model, "?", 2)[0])
		w.Name = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	if (onnx.IsURL(w.Model) || onnx.IsURL(w.Vocab)) && a.app.Network == nil {
		return a.env.Companion(ctx)
	}
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	lock, err := r.Lock("model", "change of the models")
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	bar := a.newProgress("fetching", false)
	w.Fetch, w.Now = a.app.Network.Fetcher(), a.app.Now
	w.Progress = func(what string, done, size int64) { bar.draw(done, max(done, size), what, done == size) }
	m, err := r.Models().Add(ctx, w)
	bar.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s added: %s, sha256 %s\n", m.Name, size(m.Model.Bytes), m.Model.SHA256)
	fmt.Fprintf(a.out, "`strandline model use %s`, then `strandline maintain` embeds the archive with it\n", m.Name)
	return nil
}

// besideModel names the vocab.txt beside a model.
func besideModel(source string) string {
	if !onnx.IsURL(source) {
		return filepath.Join(filepath.Dir(source), "vocab.txt")
	}
	address, query, found := strings.Cut(source, "?")
	scheme, rest, _ := strings.Cut(address, "://")
	address = scheme + "://" + path.Join(path.Dir(rest), "vocab.txt")
	if found {
		address += "?" + query
	}
	return address
}

// modelRow is one line of model list.
type modelRow struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Used     bool   `json:"used"`
	Embedder string `json:"embedder"`
	Dim      int    `json:"dimensions,omitempty"`
	Passages int64  `json:"passages"`
	Bytes    int64  `json:"bytes,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Source   string `json:"source,omitempty"`
}

func (a *commands) modelListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what can make vectors, and how many passages have them",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.modelRows(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(rows)
			}
			t := newTable("NAME", "KIND", "USED", "PASSAGES", "SIZE", "EMBEDDER")
			for _, r := range rows {
				used, bytes := "", ""
				if r.Used {
					used = "yes"
				}
				if r.Bytes > 0 {
					bytes = size(r.Bytes)
				}
				t.row(r.Name, r.Kind, used, fmt.Sprint(r.Passages), bytes, r.Embedder)
			}
			return t.write(a.out, a.width())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) modelRows(ctx context.Context) ([]modelRow, error) {
	r, err := a.app.Workspace()
	if err != nil {
		return nil, err
	}
	rows := []modelRow{{Name: app.ModelStatic, Kind: "built in", Used: true, Embedder: embed.StaticName, Dim: embed.StaticDim}}
	if e := r.Config.Embed; e.URL != "" {
		rows = append(rows, modelRow{
			Name: app.ModelHTTP, Kind: "endpoint", Used: e.Model == app.ModelHTTP, Embedder: app.HTTPEmbedder(r.Config), Source: e.URL,
		})
	}
	models, err := r.Models().List()
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		rows = append(rows, modelRow{
			Name: m.Name, Kind: "onnx", Used: r.Config.Embed.Model == m.Name, Embedder: m.Embedder(),
			Bytes: m.Model.Bytes, SHA256: m.Model.SHA256, Source: m.Model.Source,
		})
	}
	if _, err := os.Stat(r.Config.Paths.Index()); err != nil {
		return rows, nil //nolint:nilerr // no archive yet: no passages have vectors
	}
	return rows, a.app.WithIndex(ctx, r, app.ReadOnly, func(x app.Archive) error {
		sets, err := x.Index.VectorSets(ctx)
		for _, set := range sets {
			for i := range rows {
				if rows[i].Embedder == set.Embedder {
					rows[i].Passages, rows[i].Dim = set.Rows, set.Dim
				}
			}
		}
		return err
	})
}

func (a *commands) modelUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use NAME",
		Short: "Choose what makes vectors beside the built-in table",
		Long: `Choose what makes vectors beside the built-in table: an added model, http for the
endpoint in embed.url, or static for the table alone. Passages keep the vectors that they
have; ` + "`strandline maintain`" + ` makes those that are missing.`,
		Args: arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.app.Workspace()
			if err != nil {
				return err
			}
			name := args[0]
			switch name {
			case app.ModelStatic:
			case app.ModelHTTP:
				if r.Config.Embed.URL == "" {
					return archive.Invalid("no endpoint is set", "strandline config set embed.url http://127.0.0.1:11434/api/embed")
				}
			default:
				m, err := r.Models().Get(name)
				if err != nil {
					return err
				}
				if err := m.Verify(cmd.Context()); err != nil {
					return err
				}
			}
			if err := config.Set(r.Config.ConfigFile, "embed.model", name); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "embed.model = %s in %s\n", name, r.Config.ConfigFile)
			return nil
		},
	}
}

func (a *commands) modelRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Delete a model's files and the vectors it made",
		Args:  arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.app.Workspace()
			if err != nil {
				return err
			}
			lock, err := r.Lock("model", "change of the models")
			if err != nil {
				return err
			}
			defer lock.Release() // it ends with the process in any case
			return a.modelRemove(cmd.Context(), r, args[0])
		},
	}
}

func (a *commands) modelRemove(ctx context.Context, r app.Workspace, name string) error {
	if name == app.ModelStatic || name == app.ModelHTTP {
		return wrongUsage(name+" is no added model: there is nothing to remove", "`strandline model use` chooses another one")
	}
	m, err := r.Models().Get(name)
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt {
		return err
	}
	if r.Config.Embed.Model == name {
		return archive.Invalid(name+" is in use", "choose another one first: strandline model use static")
	}
	if err := r.Models().Remove(name); err != nil {
		return err
	}
	if _, err := os.Stat(r.Config.Paths.Index()); err == nil && m.Name != "" {
		err := a.app.WithIndex(ctx, r, app.ReadWrite, func(x app.Archive) error {
			if err := x.Index.DropVectors(ctx, m.Embedder()); err != nil {
				return err
			}
			_, err := x.VectorDir().Update(ctx, x.Index) // its file goes with it
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%s removed\n", name)
	return nil
}
