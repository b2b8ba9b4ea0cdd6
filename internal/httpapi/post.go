package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"

	"strandline/internal/archive"
)

// maxBody is the most bytes that a request may send.
const maxBody = 1 << 20

// posts makes a route's function of one that takes a value and gives another.
func posts[In, Out any](s *Server, r route, do func(ctx context.Context, in In) (Out, error)) route {
	r.method, r.body, r.answer, r.status = http.MethodPost, reflect.TypeFor[In](), reflect.TypeFor[Out](), http.StatusCreated
	r.serve = func(w http.ResponseWriter, c *call) error {
		in, err := body[In](w, c)
		if err != nil {
			return err
		}
		leave, err := s.enter(c.Context())
		if err != nil {
			return err
		}
		defer leave()
		out, err := do(c.Context(), in)
		if err != nil {
			return err
		}
		return s.write(w, r.status, out)
	}
	return r
}

// body reads what a request sends: one JSON value without fields that nobody
// knows.
func body[In any](w http.ResponseWriter, c *call) (in In, err error) {
	kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return in, archive.Invalid("the body is not said to be JSON", "send Content-Type: application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, c.Body, maxBody))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return in, archive.Invalid(fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit), "send less")
	}
	if err != nil {
		return in, fmt.Errorf("read body: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, &archive.Error{Code: archive.CodeInvalid, Msg: "the body does not fit: " + archive.Clip(err.Error(), 200), Err: err, Hint: apiPath + "/openapi.json says what it looks like"}
	}
	if d.More() {
		return in, archive.Invalid("the body holds more than one value", "send one")
	}
	return in, nil
}
