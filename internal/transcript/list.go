package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// OpenList returns the session in a JSON file as lines: the members of the object, then one
// line for each element of its list. A client that rewrites the file after each message
// so appends lines, if the messages before stay the same. The time of the last update,
// which changes each time, is left out, and so is the white space between values. A file that is an
// array has only the lines of its elements. The lines in first, if any, come before these.
func OpenList(path, list string, first ...[]byte) (*os.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	lines, err := listLines(data, list)
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return TempFile(bytes.NewReader(append(bytes.Join(first, nil), lines...)))
}

func listLines(data []byte, list string) ([]byte, error) {
	var elements []json.RawMessage
	var out []byte
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(data, &elements); err != nil {
			return nil, fmt.Errorf("parse the list: %w", err)
		}
	} else {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			return nil, fmt.Errorf("parse the session: %w", err)
		}
		_ = json.Unmarshal(members[list], &elements) // a session without messages
		names := make([]string, 0, len(members))
		for name := range members {
			if name != list && !strings.Contains(strings.ToLower(name), "updated") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, String(name)...), ':'), members[name]...)
		}
		elements = slices.Insert(elements, 0, json.RawMessage("{"+string(out)+"}"))
	}
	var lines bytes.Buffer
	for _, e := range elements {
		if err := json.Compact(&lines, e); err != nil {
			return nil, fmt.Errorf("write a line: %w", err)
		}
		lines.WriteByte('\n')
	}
	return lines.Bytes(), nil
}
