package embed

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func drawUnit(t *rapid.T, dim int) []float32 {
	v := rapid.SliceOfN(rapid.Float32Range(-1, 1), dim, dim).Draw(t, "vector")
	if !Normalise(v) {
		v[0] = 1
	}
	return v
}

// The quantisation error of a component is at most half a step.
func TestPackUnpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		vs := [][]float32{drawUnit(t, dim), drawUnit(t, dim)}
		data := Pack(Pack(nil, vs[0]), vs[1])
		n := 0
		err := Unpack(data, dim, func(scale float32, row []byte) error {
			for i, x := range row {
				if got := scale * float32(int8(x)); math.Abs(float64(got-vs[n][i])) > float64(scale)*0.5001 {
					t.Fatalf("component %d of %d: %v, want %v", i, n, got, vs[n][i])
				}
			}
			n++
			return nil
		})
		if err != nil || n != 2 {
			t.Fatalf("%d vectors (%v), want 2", n, err)
		}
	})
}

func TestPackExtremes(t *testing.T) {
	data := Pack(nil, []float32{0, 0, 0})
	if err := Unpack(data, 3, func(scale float32, row []byte) error {
		if scale != 0 || row[0] != 0 || row[1] != 0 || row[2] != 0 {
			t.Errorf("zeros become %v times %v", scale, row)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	data = Pack(nil, []float32{-1, 0.5, 1})
	if err := Unpack(data, 3, func(_ float32, row []byte) error {
		if int8(row[0]) != -127 || int8(row[1]) != 64 || int8(row[2]) != 127 {
			t.Errorf("%d %d %d", int8(row[0]), int8(row[1]), int8(row[2]))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestUnpackRejectsPartialVectors(t *testing.T) {
	for _, test := range []struct{ size, dim int }{{6, 3}, {8, 3}, {13, 3}, {7, 0}, {7, -4}} {
		if err := Unpack(make([]byte, test.size), test.dim, func(float32, []byte) error { return nil }); err == nil {
			t.Errorf("%d bytes are accepted as vectors of %d components", test.size, test.dim)
		}
	}
}

func TestDotAndSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 200).Draw(t, "dim")
		q := rapid.SliceOfN(rapid.Float32Range(-1, 1), dim, dim).Draw(t, "q")
		row := rapid.SliceOfN(rapid.Byte(), dim, dim).Draw(t, "row")
		var want float64
		differ := 0
		for i := range q {
			want += float64(q[i]) * float64(int8(row[i]))
			if (q[i] > 0) != (int8(row[i]) > 0) {
				differ++
			}
		}
		if got := float64(dot(q, row)); math.Abs(got-want) > 1e-3*float64(dim) {
			t.Fatalf("dot %v, want %v", got, want)
		}
		x := appendBits(nil, dim, func(i int) bool { return q[i] > 0 })
		y := appendBits(nil, dim, func(i int) bool { return int8(row[i]) > 0 })
		n := 0
		for i := range x {
			n += bits.OnesCount64(x[i] ^ y[i])
		}
		if n != differ || len(x) != signWords(dim) {
			t.Fatalf("%d signs differ in %d words, want %d", n, len(x), differ)
		}
	})
}
