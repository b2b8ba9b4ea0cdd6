package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"strandline/internal/embed"
)

// The helper is spoken to in frames over its standard input and output:
//
//	u32 length of what follows, u8 kind, body
//
// little endian. The helper says hello once; then every request is answered by
// one frame. A frame of kind fault carries a sentence and ends the conversation
// if it comes instead of hello.
const (
	kindHello   = 'H' // u32 dimension, then the model's name
	kindRequest = 'Q' // u32 texts, for each u32 bytes and the text
	kindAnswer  = 'A' // u32 texts, u32 dimension, for each dimension f32
	kindFault   = 'F' // a sentence

	// maxFrame is the largest frame: 256 texts of 16 KB, or their vectors of
	// 4,096 components.
	maxFrame = 1 + 8 + embed.MaxBatch*(4+16<<10)
	// MaxText is the most bytes of a text that are sent; a model reads far less.
	MaxText = 16 << 10
	maxDim  = 1 << 12
)

func writeFrame(w io.Writer, kind byte, body []byte) error {
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(body)), uint32(1+len(body)))
	frame = append(append(frame, kind), body...)
	if _, err := w.Write(frame); err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	return nil
}

func readFrame(r io.Reader) (kind byte, body []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, nil, err // io.EOF between frames is the end
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n < 1 || n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("read a frame: %w", err)
	}
	return body[0], body[1:], nil
}

func encodeTexts(texts []string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(texts)))
	for _, t := range texts {
		t = t[:min(len(t), MaxText)]
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t)))
		b = append(b, t...)
	}
	return b
}

func decodeTexts(b []byte) ([]string, error) {
	n, b, err := number(b)
	if err != nil || n > embed.MaxBatch {
		return nil, fmt.Errorf("a request of %d texts", n)
	}
	texts := make([]string, n)
	for i := range texts {
		var size int
		if size, b, err = number(b); err != nil || size > len(b) {
			return nil, fmt.Errorf("a request ends within text %d", i)
		}
		texts[i], b = string(b[:size]), b[size:]
	}
	return texts, nil
}

func encodeVectors(vs [][]float32, dim int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(vs)))
	b = binary.LittleEndian.AppendUint32(b, uint32(dim))
	for _, v := range vs {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

func decodeVectors(b []byte, want, dim int) ([][]float32, error) {
	n, b, err := number(b)
	if err != nil || n != want {
		return nil, fmt.Errorf("%d vectors for %d texts", n, want)
	}
	got, b, err := number(b)
	if err != nil || got != dim || len(b) != 4*n*dim {
		return nil, fmt.Errorf("vectors of %d components in %d bytes, %d components are expected", got, len(b), dim)
	}
	vs := make([][]float32, n)
	for i := range vs {
		vs[i] = make([]float32, dim)
		for j := range dim {
			vs[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*(i*dim+j):]))
		}
	}
	return vs, nil
}

func number(b []byte) (int, []byte, error) {
	if len(b) < 4 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return int(binary.LittleEndian.Uint32(b)), b[4:], nil
}
