package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// The client and the helper exchange frames over the helper's standard input and
// output:
//
//	u32 length of the rest, u8 kind, body
//
// All numbers are little endian. The helper sends hello once and then one frame for
// each request. A fault instead of hello ends the connection.
const (
	kindHello   = 'H' // u32 dimension, then the model's name
	kindRequest = 'Q' // u32 texts, for each u32 bytes and the text
	kindAnswer  = 'A' // u32 texts, u32 dimension, for each dimension f32
	kindFault   = 'F' // an error message

	// maxText is the largest part of a text that is sent, in bytes.
	maxText = 16 << 10
	maxDim  = 1 << 12
	// maxFrame is the size of embed.MaxBatch texts of maxText bytes, or of their
	// vectors of maxDim components.
	maxFrame = 1 + 8 + embed.MaxBatch*(4+maxText)
)

func writeFrame(w io.Writer, kind byte, body []byte) error {
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(body)), uint32(1+len(body)))
	frame = append(append(frame, kind), body...)
	_, err := w.Write(frame)
	return archive.Wrap("write a frame", err)
}

// readFrame reads a frame. The error is io.EOF if the input ends between frames.
func readFrame(r io.Reader) (kind byte, body []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n < 1 || n > maxFrame {
		return 0, nil, fmt.Errorf("a frame has %d bytes, the maximum is %d", n, maxFrame)
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
		t = t[:min(len(t), maxText)]
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t)))
		b = append(b, t...)
	}
	return b
}

func decodeTexts(b []byte) ([]string, error) {
	n, b, err := cutNumber(b)
	if err != nil || n > embed.MaxBatch {
		return nil, fmt.Errorf("a request has %d texts, the maximum is %d", n, embed.MaxBatch)
	}
	texts := make([]string, n)
	for i := range texts {
		var size int
		if size, b, err = cutNumber(b); err != nil || size > len(b) {
			return nil, fmt.Errorf("a request is truncated in text %d", i)
		}
		texts[i], b = string(b[:size]), b[size:]
	}
	return texts, nil
}

func encodeVectors(vs [][]float32, dim int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(vs)))
	b = binary.LittleEndian.AppendUint32(b, uint32(dim))
	for _, v := range vs {
		b, _ = binary.Append(b, binary.LittleEndian, v) // cannot fail for numbers
	}
	return b
}

// decodeVectors decodes want vectors of dim components.
func decodeVectors(b []byte, want, dim int) ([][]float32, error) {
	n, b, err := cutNumber(b)
	if err != nil || n != want {
		return nil, fmt.Errorf("%d vectors for %d texts", n, want)
	}
	got, b, err := cutNumber(b)
	if err != nil || got != dim || len(b) != 4*n*dim {
		return nil, fmt.Errorf("the vectors have %d components in %d bytes, want %d components", got, len(b), dim)
	}
	vs := make([][]float32, n)
	for i := range vs {
		vs[i] = make([]float32, dim)
		_, _ = binary.Decode(b[4*i*dim:], binary.LittleEndian, vs[i]) // cannot fail, b is long enough
	}
	return vs, nil
}

func cutNumber(b []byte) (n int, rest []byte, err error) {
	if len(b) < 4 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return int(binary.LittleEndian.Uint32(b)), b[4:], nil
}

// Serve runs the helper's side: it sends hello and answers requests until in ends.
// run makes one vector of dim components for each text; its error is sent to the
// client.
func Serve(in io.Reader, out io.Writer, name string, dim int, run func(texts []string) ([][]float32, error)) error {
	hello := binary.LittleEndian.AppendUint32(nil, uint32(dim))
	if err := writeFrame(out, kindHello, append(hello, name...)); err != nil {
		return err
	}
	for {
		kind, body, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != kindRequest {
			return fmt.Errorf("unexpected frame of kind %q", kind)
		}
		texts, err := decodeTexts(body)
		if err != nil {
			return err
		}
		if vs, failed := run(texts); failed != nil {
			err = SendFault(out, failed)
		} else {
			err = writeFrame(out, kindAnswer, encodeVectors(vs, dim))
		}
		if err != nil {
			return err
		}
	}
}

// SendFault sends an error to the client.
func SendFault(out io.Writer, err error) error {
	return writeFrame(out, kindFault, []byte(err.Error()))
}
