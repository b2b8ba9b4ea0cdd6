package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"strandline/internal/archive"
)

// Image is a picture of a conversation.
type Image struct {
	Media string // "image/png", "image/jpeg", "image/gif" or "image/webp"
	Data  []byte
}

// content is a block of a message as far as it holds pictures.
type content struct {
	Type    string
	Content json.RawMessage // of a tool's result
	Source  struct {
		Media string `json:"media_type"`
		Data  []byte // base64
	}
}

// Image returns picture n, from 0, of a line of a session's transcript.
func (a *App) Image(ctx context.Context, session string, line, n int) (Image, error) {
	return readSession(ctx, a, session, func(x Archive, id string) (Image, error) {
		raw, err := x.Raw(ctx, id, line, line+1)
		if err != nil {
			return Image{}, err
		}
		var row struct {
			Message struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(raw, &row); err == nil {
			if list := images(row.Message.Content); n < len(list) {
				return list[n], nil
			}
		}
		return Image{}, archive.NotFound(fmt.Sprintf("line %d of session %s has no picture %d", line, archive.ShortID(id), n), "")
	})
}

// images returns the pictures of a message's content, tool results included.
func images(raw json.RawMessage) (list []Image) {
	var blocks []content
	if json.Unmarshal(raw, &blocks) != nil {
		return nil // a text, or a block of another form
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_result":
			list = append(list, images(b.Content)...)
		case b.Type == "image" && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, b.Source.Media):
			list = append(list, Image{b.Source.Media, b.Source.Data})
		case b.Type == "image":
			list = append(list, Image{})
		}
	}
	return list
}
