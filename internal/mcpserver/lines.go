package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// maxLine bounds one message of a client in bytes.
const maxLine = 8 << 20

// parseError answers a line that is no JSON-RPC message, as
// https://www.jsonrpc.org/specification#error_object says.
const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: each line has to be one JSON-RPC message"}}` + "\n"

// lines passes on the lines of an input that are messages, and answers the
// others: one bad line must not end a session.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the line that is being passed on
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := readLine(l.in)
		if len(bytes.TrimSpace(line)) > 0 || long {
			if long || !isMessage(line) {
				if _, werr := io.WriteString(l.out, parseError); werr != nil {
					return 0, werr
				}
			} else {
				l.rest = append(line, '\n')
				break
			}
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// readLine reads a line without its end; of one that is too long it reads all
// and gives nothing.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), long, err
		}
	}
}

// isMessage reports whether a line is a request, a notification or a response.
func isMessage(line []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		return false
	}
	if len(m.ID) > 0 && m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-' {
		return false // neither a text nor a number
	}
	return m.Method != nil || len(m.ID) > 0 && (m.Result != nil || m.Error != nil)
}

// locked is an output that takes one message at a time.
type locked struct {
	mu sync.Mutex
	io.WriteCloser
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.WriteCloser.Write(p)
}
