package main

import (
	"encoding/binary"
	"math"
)

// testModel is a small model encoded as a protocol buffer: token embeddings, a matrix and
// a layer normalisation, like the last steps of a BERT model.
//
//	states = LayerNorm(Gather(table, input_ids) x matrix) * scale + bias
type testModel struct {
	tokens, dim int
	table       []float32 // tokens x dim
	matrix      []float32 // dim x dim
	scale, bias []float32

	declaredDim  int  // in the model's output
	unknownInput bool // declares an unknown input
}

const layerNormEpsilon = 1e-5

// newTestModel returns a model of this size.
func newTestModel(tokens, dim int) *testModel {
	m := &testModel{tokens: tokens, dim: dim, declaredDim: dim}
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

// copyToken gives token b the embedding of token a.
func (m *testModel) copyToken(a, b int) *testModel {
	copy(m.table[b*m.dim:(b+1)*m.dim], m.table[a*m.dim:(a+1)*m.dim])
	return m
}

// vector computes the expected vector of tokens: the mean of their states at unit length.
func (m *testModel) vector(ids []int64) []float64 {
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
			sum[j] += (x-mean)/math.Sqrt(variance+layerNormEpsilon)*float64(m.scale[j]) + float64(m.bias[j])
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

// protoMessage is a protocol buffer under construction.
type protoMessage []byte

func (p *protoMessage) number(field int, v uint64) *protoMessage {
	*p = binary.AppendUvarint(*p, uint64(field)<<3)
	*p = binary.AppendUvarint(*p, v)
	return p
}

func (p *protoMessage) bytes(field int, v []byte) *protoMessage {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|2)
	*p = binary.AppendUvarint(*p, uint64(len(v)))
	*p = append(*p, v...)
	return p
}

func (p *protoMessage) text(field int, v string) *protoMessage { return p.bytes(field, []byte(v)) }

func (p *protoMessage) float(field int, v float32) *protoMessage {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|5)
	*p = binary.LittleEndian.AppendUint32(*p, math.Float32bits(v))
	return p
}

const (
	protoFloat = 1
	protoInt64 = 7
)

func protoTensor(name string, values []float32, dims ...int) []byte {
	p := &protoMessage{}
	for _, d := range dims {
		p.number(1, uint64(d))
	}
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return *p.number(2, protoFloat).text(8, name).bytes(9, raw)
}

// protoPort describes an input or an output; a dimension of 0 is free.
func protoPort(name string, kind uint64, dims ...int) []byte {
	shape := &protoMessage{}
	for i, d := range dims {
		dim := &protoMessage{}
		if d > 0 {
			dim.number(1, uint64(d))
		} else {
			dim.text(2, string(rune('n'+i)))
		}
		shape.bytes(1, *dim)
	}
	t := (&protoMessage{}).bytes(1, *(&protoMessage{}).number(1, kind).bytes(2, *shape))
	return *(&protoMessage{}).text(1, name).bytes(2, *t)
}

func protoNode(op string, inputs []string, output string, attributes ...[]byte) []byte {
	p := &protoMessage{}
	for _, in := range inputs {
		p.text(1, in)
	}
	p.text(2, output).text(4, op)
	for _, a := range attributes {
		p.bytes(5, a)
	}
	return *p
}

// encode returns the model as an .onnx file.
func (m *testModel) encode() []byte {
	axis := *(&protoMessage{}).text(1, "axis").number(3, math.MaxUint64).number(20, 2) // -1
	eps := *(&protoMessage{}).text(1, "epsilon").float(2, layerNormEpsilon).number(20, 1)
	graph := (&protoMessage{}).
		bytes(1, protoNode("Gather", []string{"table", "input_ids"}, "embedded")).
		bytes(1, protoNode("MatMul", []string{"embedded", "matrix"}, "turned")).
		bytes(1, protoNode("LayerNormalization", []string{"turned", "scale", "bias"}, "last_hidden_state", axis, eps)).
		text(2, "small").
		bytes(5, protoTensor("table", m.table, m.tokens, m.dim)).
		bytes(5, protoTensor("matrix", m.matrix, m.dim, m.dim)).
		bytes(5, protoTensor("scale", m.scale, m.dim)).
		bytes(5, protoTensor("bias", m.bias, m.dim)).
		bytes(11, protoPort("input_ids", protoInt64, 0, 0)).
		bytes(11, protoPort("attention_mask", protoInt64, 0, 0)).
		bytes(11, protoPort("token_type_ids", protoInt64, 0, 0))
	if m.unknownInput {
		graph.bytes(11, protoPort("pixel_values", protoInt64, 0, 0))
	}
	graph.bytes(12, protoPort("last_hidden_state", protoFloat, 0, 0, m.declaredDim))
	opset := *(&protoMessage{}).text(1, "").number(2, 17)
	return *(&protoMessage{}).number(1, 8).text(2, "strandline").bytes(7, *graph).bytes(8, opset)
}
