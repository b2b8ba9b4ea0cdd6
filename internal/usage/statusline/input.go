package statusline

import "encoding/json"

// input is what the client says on stdin, as far as it is shown. Every field may
// be missing, null, or of another type.
type input struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	} `json:"model"`
	Window struct {
		Tokens float64 `json:"total_input_tokens"`
		Size   float64 `json:"context_window_size"`
	} `json:"context_window"`
}

// absurd is a number of tokens that stands in no window.
const absurd = 20_000_000

// parse reads what can be read. Of a field of another type the others are taken;
// what is no JSON at all gives nothing.
func parse(data []byte) input {
	var in input
	_ = json.Unmarshal(data, &in) // see above
	return in
}

// tokens are what stands in the window by the client's own count, 0 when it does
// not say: before the first response, and right after a compaction.
func (in input) tokens() int64 { return count(in.Window.Tokens) }

// size is the window by the client's own word, 0 when it does not say.
func (in input) size() int64 { return count(in.Window.Size) }

func count(f float64) int64 {
	if f >= 1 && f <= absurd {
		return int64(f)
	}
	return 0
}
