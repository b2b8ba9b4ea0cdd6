package eval

// score gathers the figures of many questions.
type score struct {
	n       int
	hit     [3]float64 // Hit@1, @5, @10: the share of questions with a right answer that high
	recall  [3]float64 // R@1, @5, @10: the mean share of right answers that high
	inverse float64    // sum of 1/rank of the first right answer
}

// cuts are the ranks at which hits and recall are taken.
func cuts() [3]int { return [3]int{1, 5, 10} }

// add records the ascending 0-based ranks of correct answers to a question with
// gold correct answers in total.
func (s *score) add(ranks []int, gold int) {
	s.n++
	if len(ranks) > 0 {
		s.inverse += 1 / float64(ranks[0]+1)
	}
	for i, k := range cuts() {
		found := 0
		for _, r := range ranks {
			if r < k {
				found++
			}
		}
		if found > 0 {
			s.hit[i]++
		}
		s.recall[i] += float64(found) / float64(gold)
	}
}

func (s *score) mean(x float64) float64 {
	if s.n == 0 {
		return 0
	}
	return x / float64(s.n)
}

// mrr is the mean of 1/rank of the first right answer.
func (s *score) mrr() float64 { return s.mean(s.inverse) }

// ranks returns the places of gold in a list of answers without repetitions.
func ranks(answers []string, gold map[string]bool) []int {
	var out []int
	seen := map[string]bool{}
	for _, a := range answers {
		if seen[a] {
			continue
		}
		if gold[a] {
			out = append(out, len(seen))
		}
		seen[a] = true
	}
	return out
}
