package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"strandline/internal/archive"
)

// decode reads a JSON body into v. Unknown fields are ignored, since hooks of several
// versions send them.
func (c *call) decode(v any) error {
	// A browser sends no other site's request with this type without asking first.
	media, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return archive.Invalid("the content type is not JSON", "send Content-Type: application/json")
	}
	data, err := io.ReadAll(c.Body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return archive.Invalid(fmt.Sprintf("the body is larger than %d bytes", maxBody), "send less")
	}
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if len(data) == 0 {
		return archive.Invalid("the body is empty", "send a JSON object")
	}
	err = json.Unmarshal(data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "the body"
		if wrong.Field != "" {
			what = wrong.Field
		}
		return &archive.Error{Code: archive.CodeInvalid, Msg: what + " has the wrong type: " + wrong.Value, Err: err, Hint: "docs/http.md lists the fields"}
	}
	if err != nil {
		return &archive.Error{Code: archive.CodeInvalid, Msg: "the body is not JSON: " + archive.Clip(err.Error(), 200), Err: err, Hint: "send a JSON object"}
	}
	return nil
}

// object reads a body that is a JSON object.
func (c *call) object() (in record, err error) {
	if err = c.decode(&in); err == nil && in == nil {
		err = archive.Invalid("the body is not an object", "send a JSON object")
	}
	return in, err
}

// encode returns a value as JSON whose texts are redacted.
func encode(v any, redact func(string) string) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	if data, err = json.Marshal(archive.ChangeTexts(plain, redact)); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return data, nil
}

// problem returns the answer to an error, in the earlier service's form.
func (d dcm) problem(r *http.Request, err error) (answer record, code int) {
	e, ok := errors.AsType[*archive.Error](err)
	if !ok {
		d.opts.Log.Error("serve", "path", r.URL.Path, "error", err)
		return record{"error": internalError, "hint": doctorHint}, http.StatusInternalServerError
	}
	return record{"error": e.Msg, "hint": archive.ErrorHint(e)}, cmp.Or(statuses[archive.ErrorCode(e)], http.StatusInternalServerError)
}
