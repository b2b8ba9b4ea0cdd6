package statusline

import "encoding/json"

// input is the part of the client's payload that is shown. Every field may be
// missing, null, or of another type.
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

// maxTokens is a number of tokens that no window holds; larger counts are errors.
const maxTokens = 20_000_000

// parse reads the payload. Fields of another type stay zero; invalid JSON gives
// the zero input.
func parse(data []byte) input {
	var in input
	_ = json.Unmarshal(data, &in)
	return in
}

// tokens returns the client's count of the tokens in the window; 0 if unknown, as
// before the first response and right after a compaction.
func (in input) tokens() int64 { return count(in.Window.Tokens) }

// size returns the client's size of the window; 0 if unknown.
func (in input) size() int64 { return count(in.Window.Size) }

func count(f float64) int64 {
	if f >= 1 && f <= maxTokens {
		return int64(f)
	}
	return 0
}
