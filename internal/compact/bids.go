package compact

// bids is a binary heap, densest first.
type bids []bid

func (q bids) before(i, j int) bool {
	if q[i].density != q[j].density {
		return q[i].density > q[j].density
	}
	return q[i].seq < q[j].seq
}

// sink moves the bid at i down to its place.
func (q bids) sink(i int) {
	for {
		top := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q.before(child, top) {
				top = child
			}
		}
		if top == i {
			return
		}
		q[i], q[top] = q[top], q[i]
		i = top
	}
}

func (q *bids) push(b bid) {
	*q = append(*q, b)
	for i := len(*q) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		(*q)[i], (*q)[parent] = (*q)[parent], (*q)[i]
		i = parent
	}
}

// drop removes the densest bid.
func (q *bids) drop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.sink(0)
}
