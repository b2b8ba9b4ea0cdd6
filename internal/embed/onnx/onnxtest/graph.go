// Package onnxtest has what tests of the model's helper need: a small model whose
// numbers can be computed without the runtime, and the helper itself, built.
package onnxtest

import (
	"encoding/binary"
	"math"
)

// Model is a small model, written by hand as a protocol buffer: token embeddings, a matrix
// and a layer normalisation, which is what the last steps of a BERT model are.
//
//	states = LayerNorm(Gather(table, input_ids) x matrix) * scale + bias
type Model struct {
	tokens, dim int
	table       []float32 // tokens x dim
	matrix      []float32 // dim x dim
	scale, bias []float32

	Says         int  // the dimension that it says it has
	StrangeInput bool // asks for what no text has
}

const epsilon = 1e-5

// New returns a model of so many tokens and dimensions.
func New(tokens, dim int) *Model {
	m := &Model{tokens: tokens, dim: dim, Says: dim}
	value := func(i int) float32 { return float32(math.Sin(float64(i)*12.9898) * 0.9) }
	for i := range tokens * dim {
		m.table = append(m.table, value(i))
	}
	for i := range dim * dim {
		m.matrix = append(m.matrix, value(1000+i))
	}
	for i := range dim {
		m.scale, m.bias = append(m.scale, 1+value(5000+i)/2), append(m.bias, value(6000+i)/4)
	}
	return m
}

// Alike gives token b the state of token a.
func (m *Model) Alike(a, b int) *Model {
	copy(m.table[b*m.dim:(b+1)*m.dim], m.table[a*m.dim:(a+1)*m.dim])
	return m
}

// Vector computes, in its own arithmetic, what the model makes of tokens: the
// mean of their states, as a unit vector.
func (m *Model) Vector(ids []int64) []float64 {
	sum := make([]float64, m.dim)
	for _, id := range ids {
		state := make([]float64, m.dim)
		for j := range m.dim {
			for i := range m.dim {
				state[j] += float64(m.table[int(id)*m.dim+i]) * float64(m.matrix[i*m.dim+j])
			}
		}
		mean, variance := 0.0, 0.0
		for _, x := range state {
			mean += x / float64(m.dim)
		}
		for _, x := range state {
			variance += (x - mean) * (x - mean) / float64(m.dim)
		}
		for j, x := range state {
			sum[j] += (x-mean)/math.Sqrt(variance+epsilon)*float64(m.scale[j]) + float64(m.bias[j])
		}
	}
	length := 0.0
	for _, x := range sum {
		length += x * x
	}
	for j := range sum {
		sum[j] /= math.Sqrt(length)
	}
	return sum
}

// message is a protocol buffer under construction.
type message []byte

func (p *message) number(field int, v uint64) *message {
	*p = binary.AppendUvarint(*p, uint64(field)<<3)
	*p = binary.AppendUvarint(*p, v)
	return p
}

func (p *message) bytes(field int, v []byte) *message {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|2)
	*p = binary.AppendUvarint(*p, uint64(len(v)))
	*p = append(*p, v...)
	return p
}

func (p *message) text(field int, v string) *message { return p.bytes(field, []byte(v)) }

func (p *message) float(field int, v float32) *message {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|5)
	*p = binary.LittleEndian.AppendUint32(*p, math.Float32bits(v))
	return p
}

const (
	typeFloat = 1
	typeInt64 = 7
)

func tensor(name string, values []float32, dims ...int) []byte {
	p := &message{}
	for _, d := range dims {
		p.number(1, uint64(d))
	}
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return *p.number(2, typeFloat).text(8, name).bytes(9, raw)
}

// port describes an input or an output; a dimension of 0 is free.
func port(name string, kind uint64, dims ...int) []byte {
	shape := &message{}
	for i, d := range dims {
		dim := &message{}
		if d > 0 {
			dim.number(1, uint64(d))
		} else {
			dim.text(2, string(rune('n'+i)))
		}
		shape.bytes(1, *dim)
	}
	t := (&message{}).bytes(1, *(&message{}).number(1, kind).bytes(2, *shape))
	return *(&message{}).text(1, name).bytes(2, *t)
}

func node(op string, inputs []string, output string, attributes ...[]byte) []byte {
	p := &message{}
	for _, in := range inputs {
		p.text(1, in)
	}
	p.text(2, output).text(4, op)
	for _, a := range attributes {
		p.bytes(5, a)
	}
	return *p
}

// Encode gives the bytes of an .onnx file.
func (m *Model) Encode() []byte {
	axis := *(&message{}).text(1, "axis").number(3, math.MaxUint64).number(20, 2) // -1
	eps := *(&message{}).text(1, "epsilon").float(2, epsilon).number(20, 1)
	graph := (&message{}).
		bytes(1, node("Gather", []string{"table", "input_ids"}, "embedded")).
		bytes(1, node("MatMul", []string{"embedded", "matrix"}, "turned")).
		bytes(1, node("LayerNormalization", []string{"turned", "scale", "bias"}, "last_hidden_state", axis, eps)).
		text(2, "small").
		bytes(5, tensor("table", m.table, m.tokens, m.dim)).
		bytes(5, tensor("matrix", m.matrix, m.dim, m.dim)).
		bytes(5, tensor("scale", m.scale, m.dim)).
		bytes(5, tensor("bias", m.bias, m.dim)).
		bytes(11, port("input_ids", typeInt64, 0, 0)).
		bytes(11, port("attention_mask", typeInt64, 0, 0)).
		bytes(11, port("token_type_ids", typeInt64, 0, 0))
	if m.StrangeInput {
		graph.bytes(11, port("pixel_values", typeInt64, 0, 0))
	}
	graph.bytes(12, port("last_hidden_state", typeFloat, 0, 0, m.Says))
	opset := *(&message{}).text(1, "").number(2, 17)
	return *(&message{}).number(1, 8).text(2, "strandline").bytes(7, *graph).bytes(8, opset)
}
