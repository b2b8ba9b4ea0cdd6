package onnx

import (
	"errors"
	"fmt"
	"io"

	"encoding/binary"
)

// Serve is the helper's side: it says what it is and answers requests until in
// ends. run makes one vector of dim components for each text; what it fails with
// is told to the other side, which decides.
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
			return fmt.Errorf("a frame of kind %q", kind)
		}
		texts, err := decodeTexts(body)
		if err != nil {
			return err
		}
		vs, err := run(texts)
		if err != nil {
			if err := Refuse(out, err); err != nil {
				return err
			}
			continue
		}
		if err := writeFrame(out, kindAnswer, encodeVectors(vs, dim)); err != nil {
			return err
		}
	}
}

// Refuse tells the other side what is wrong.
func Refuse(out io.Writer, why error) error { return writeFrame(out, kindFault, []byte(why.Error())) }

// Pool makes a text's unit vector of its tokens' states: their mean, without
// those that mask leaves out, divided by its length. It returns nil if nothing
// is left.
func Pool(states []float32, mask []int64, dim int, normalise func([]float32) bool) []float32 {
	v := make([]float32, dim)
	n := 0
	for i, m := range mask {
		if m == 0 {
			continue
		}
		n++
		for j := range dim {
			v[j] += states[i*dim+j]
		}
	}
	if n == 0 {
		return nil
	}
	for j := range v {
		v[j] /= float32(n)
	}
	if !normalise(v) {
		return nil
	}
	return v
}
