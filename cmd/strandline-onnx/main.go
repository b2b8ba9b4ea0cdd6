//go:build onnx

// Command strandline-onnx runs an embedding model for strandline: it reads texts from
// standard input and writes vectors to standard output, in the frames of package
// internal/embed/onnx. It links the ONNX Runtime through cgo and is therefore a
// separate program. Build it with -tags onnx.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"strandline/cmd/strandline-onnx/bert"
	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/embed/onnx"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "strandline-onnx:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("strandline-onnx", flag.ContinueOnError)
	path := flags.String("model", "", "the .onnx file")
	vocab := flags.String("vocab", "", "its vocab.txt")
	library := flags.String("library", "", "the ONNX Runtime library")
	tokens := flags.Int("tokens", 256, "number of tokens of a text that are used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	m, err := load(*path, *vocab, *library, *tokens)
	if err != nil {
		return errors.Join(onnx.SendFault(out, err), err)
	}
	err = onnx.Serve(in, out, filepath.Base(*path), m.dim, m.embed)
	return errors.Join(err, m.session.Destroy(), ort.DestroyEnvironment())
}

// model is a loaded model with its tokenizer.
type model struct {
	tokenizer *bert.Tokenizer
	session   *ort.DynamicAdvancedSession
	inputs    []string
	dim       int
	pooled    bool // the model returns one vector per text, not one per token
	tokens    int
}

func load(path, vocab, library string, tokens int) (*model, error) {
	f, err := os.Open(vocab)
	if err != nil {
		return nil, fmt.Errorf("open the vocabulary: %w", err)
	}
	defer f.Close()
	m := &model{tokens: tokens}
	if m.tokenizer, err = bert.NewTokenizer(f); err != nil {
		return nil, err
	}
	if library == "" {
		library = findLibrary()
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return nil, fmt.Errorf("load the ONNX Runtime: %w", err)
	}
	inputs, outputs, err := ort.GetInputOutputInfo(path)
	if err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	known := []string{"input_ids", "attention_mask", "token_type_ids"}
	for _, in := range inputs {
		if !slices.Contains(known, in.Name) {
			return nil, fmt.Errorf("the model has an unknown input %q", in.Name)
		}
		m.inputs = append(m.inputs, in.Name)
	}
	if len(outputs) == 0 || len(outputs[0].Dimensions) < 2 || len(outputs[0].Dimensions) > 3 {
		return nil, errors.New("the model does not return vectors of texts")
	}
	shape := outputs[0].Dimensions
	m.pooled = len(shape) == 2
	if m.dim = int(shape[len(shape)-1]); m.dim < 1 {
		return nil, errors.New("the model does not declare the number of components")
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	defer options.Destroy()
	// Leave processors for the user's work.
	if err = options.SetIntraOpNumThreads(max(1, runtime.NumCPU()/2)); err == nil {
		m.session, err = ort.NewDynamicAdvancedSession(path, m.inputs, []string{outputs[0].Name}, options)
	}
	return m, archive.Wrap("load the model", err)
}

// findLibrary returns the runtime library next to this program, or else the name of
// the system's.
func findLibrary() string {
	name := map[string]string{"darwin": "libonnxruntime.dylib", "windows": "onnxruntime.dll"}[runtime.GOOS]
	if name == "" {
		name = "libonnxruntime.so.1"
	}
	if exe, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(exe), name)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return name
}

// batchSize is the number of texts in one run of the model. On a few cores larger
// batches use more memory and are not faster.
const batchSize = 16

func (m *model) embed(texts []string) ([][]float32, error) {
	var out [][]float32
	for some := range slices.Chunk(texts, batchSize) {
		vs, err := m.batch(some)
		if err != nil {
			return nil, err
		}
		out = append(out, vs...)
	}
	return out, nil
}

func (m *model) batch(texts []string) ([][]float32, error) {
	rows, width := make([][]int64, len(texts)), 0
	for i, text := range texts {
		rows[i] = m.tokenizer.Encode(text, m.tokens)
		width = max(width, len(rows[i]))
	}
	ids, mask := make([]int64, len(texts)*width), make([]int64, len(texts)*width)
	for i, row := range rows {
		copy(ids[i*width:], row)
		for j := range row {
			mask[i*width+j] = 1
		}
	}
	shape := ort.NewShape(int64(len(texts)), int64(width))
	var inputs []ort.Value
	defer func() {
		for _, in := range inputs {
			_ = in.Destroy()
		}
	}()
	for _, name := range m.inputs {
		data := map[string][]int64{"input_ids": ids, "attention_mask": mask}[name]
		if data == nil {
			data = make([]int64, len(ids))
		}
		tensor, err := ort.NewTensor(shape, data)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, tensor)
	}
	outputs := []ort.Value{nil}
	if err := m.session.Run(inputs, outputs); err != nil {
		return nil, err
	}
	defer outputs[0].Destroy()
	tensor, ok := outputs[0].(*ort.Tensor[float32])
	want := len(texts) * m.dim
	if !m.pooled {
		want *= width
	}
	if !ok || len(tensor.GetData()) != want {
		return nil, errors.New("the model's output does not have the declared shape")
	}
	states, out := tensor.GetData(), make([][]float32, len(texts))
	for i := range texts {
		if m.pooled {
			out[i] = slices.Clone(states[i*m.dim : (i+1)*m.dim])
			embed.Normalise(out[i])
			continue
		}
		out[i] = make([]float32, m.dim)
		if v := bert.Pool(states[i*width*m.dim:(i+1)*width*m.dim], mask[i*width:(i+1)*width], m.dim); v != nil {
			out[i] = v
		}
	}
	return out, nil
}
