package archive

import "encoding/json"

// Convert returns the converted elements of a list.
func Convert[A, B any](list []A, convert func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = convert(x)
	}
	return out
}

// Select returns the elements of a list that keep accepts, nil if there are none.
func Select[T any](list []T, keep func(T) bool) (out []T) {
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// FactOf decodes the data of a journal entry. ok is false if it has another form.
func FactOf[F any](e *JournalEntry) (fact F, ok bool) {
	err := json.Unmarshal(e.Data, &fact)
	return fact, err == nil
}
