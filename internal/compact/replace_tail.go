package compact

import "strandline/internal/transcript"

// chooseTail decides which messages stand as they are: those from the returned
// place on, and the prompt that they answer if it stands before them (-1: none).
func chooseTail(ms []transcript.Message, index *index, budget int) (from, pinned int) {
	limit := index.shareOf(budget, shareTail, budget)
	spent := 0
	from = len(ms)
	open := map[string]bool{} // results whose call stands further up
	for i := len(ms) - 1; i >= 0; i-- {
		m := &ms[i]
		if m.Summary || isOwn(m.Text) {
			break
		}
		spent += messageTokens(m)
		if from == len(ms) {
			if spent > budget*shareLast/100 {
				break
			}
		} else if spent > limit {
			break
		}
		for j := range m.Results {
			open[m.Results[j].ID] = true
		}
		for j := range m.Uses {
			delete(open, m.Uses[j].ID)
		}
		if len(open) == 0 && begins(ms, i, index) {
			from = i
		}
	}
	pinned = -1
	for i := from; i < len(ms); i++ {
		if ms[i].Prompt != "" {
			return from, -1
		}
	}
	for i := from - 1; i >= 0; i-- {
		if ms[i].Prompt == "" || len(ms[i].Results) > 0 {
			continue
		}
		if messageTokens(&ms[i]) <= budget*shareAsk/100 {
			pinned = i
		}
		break
	}
	return from, pinned
}

// shareLast is how much of the budget, in percent, the last exchange may take to
// stand as it is.
const shareLast = 60

// begins reports whether an exchange begins at a message: a prompt, or a
// response of the model behind the results of the one before. Calls that one
// response made side by side come back one by one; the archive knows that they
// belong together.
func begins(ms []transcript.Message, i int, index *index) bool {
	m := &ms[i]
	if m.Role != "assistant" {
		return m.Prompt != "" && len(m.Results) == 0
	}
	if i == 0 {
		return true
	}
	before := &ms[i-1]
	if before.Role == "assistant" {
		return false
	}
	if len(before.Results) == 0 || len(m.Uses) == 0 {
		return true
	}
	a, known := index.calls[before.Results[0].ID]
	b, also := index.calls[m.Uses[0].ID]
	return !known || !also || a != b
}

// openTurn returns the place behind the last prompt if the model has not yet
// answered the last results, else the number of messages.
func openTurn(ms []transcript.Message) int {
	if n := len(ms); n == 0 || len(ms[n-1].Results) == 0 {
		return n
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Prompt != "" && len(ms[i].Results) == 0 {
			return i + 1
		}
	}
	return 0
}
