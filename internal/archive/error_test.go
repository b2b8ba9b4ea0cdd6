package archive_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"strandline/internal/archive"
)

func TestErrorChains(t *testing.T) {
	plain := errors.New("disk on fire")
	busy := &archive.Error{Code: archive.CodeBusy, Msg: "the index is locked", Err: plain}
	hinted := &archive.Error{Code: archive.CodeDenied, Msg: "cannot write", Hint: "chmod it"}
	tests := map[string]struct {
		err  error
		code archive.Code
		hint string
		text string
	}{
		"none":                       {nil, "", "", ""},
		"a foreign error":            {plain, archive.CodeInternal, "", "disk on fire"},
		"not found":                  {archive.NotFound("no such turn", "list them"), archive.CodeNotFound, "list them", "no such turn"},
		"invalid":                    {archive.Invalid("no number", ""), archive.CodeInvalid, "", "no number"},
		"with a cause":               {busy, archive.CodeBusy, "", "the index is locked: disk on fire"},
		"wrapped":                    {fmt.Errorf("open index: %w", busy), archive.CodeBusy, "", "open index: the index is locked: disk on fire"},
		"the outer code wins":        {&archive.Error{Code: archive.CodeBusy, Msg: "a", Err: hinted}, archive.CodeBusy, "chmod it", "a: cannot write"},
		"an inner code counts":       {&archive.Error{Msg: "a", Err: hinted}, archive.CodeDenied, "chmod it", "a: cannot write"},
		"the outer hint wins":        {&archive.Error{Msg: "a", Hint: "wait", Err: hinted}, archive.CodeDenied, "wait", "a: cannot write"},
		"without a code":             {&archive.Error{Msg: "a"}, archive.CodeInternal, "", "a"},
		"joined":                     {errors.Join(plain, hinted), archive.CodeDenied, "chmod it", "disk on fire\ncannot write"},
		"joined to one without hint": {errors.Join(busy, hinted), archive.CodeBusy, "chmod it", "the index is locked: disk on fire\ncannot write"},
		"deep in a tree":             {fmt.Errorf("x: %w", errors.Join(plain, fmt.Errorf("y: %w", hinted))), archive.CodeDenied, "chmod it", "x: disk on fire\ny: cannot write"},
		"two verbs of wrapping":      {fmt.Errorf("%w and %w", plain, hinted), archive.CodeDenied, "chmod it", "disk on fire and cannot write"},
		"a stale batch":              {fmt.Errorf("apply: %w", archive.ErrStale), archive.CodeInternal, "", "apply: the session's cursor has moved"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := archive.ErrorCode(c.err); got != c.code {
				t.Errorf("code %q, want %q", got, c.code)
			}
			if got := archive.ErrorHint(c.err); got != c.hint {
				t.Errorf("hint %q, want %q", got, c.hint)
			}
			if c.err != nil && c.err.Error() != c.text {
				t.Errorf("text %q, want %q", c.err, c.text)
			}
		})
	}
}

func TestErrorsIsFindsTheCause(t *testing.T) {
	err := fmt.Errorf("open: %w", &archive.Error{Code: archive.CodeDenied, Msg: "cannot open", Err: fs.ErrPermission})
	if !errors.Is(err, fs.ErrPermission) {
		t.Error("the cause is hidden")
	}
	var found *archive.Error
	if !errors.As(err, &found) || found.Msg != "cannot open" {
		t.Errorf("got %+v", found)
	}
}

func TestOnlyBusy(t *testing.T) {
	busy := error(&archive.Error{Code: archive.CodeBusy, Msg: "locked", Err: errors.New("SQLITE_BUSY")})
	full := error(&archive.Error{Code: archive.CodeDenied, Msg: "full"})
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                  {nil, false},
		"another error":             {errors.New("nil pointer"), false},
		"busy":                      {busy, true},
		"busy, wrapped":             {fmt.Errorf("index: %w", busy), true},
		"busy twice":                {errors.Join(busy, fmt.Errorf("journal: %w", busy)), true},
		"busy, and the disk full":   {errors.Join(busy, full), false},
		"busy and another error":    {errors.Join(fmt.Errorf("x: %w", busy), errors.New("y")), false},
		"an error without a code":   {&archive.Error{Msg: "m", Err: busy}, true},
		"an error without anything": {&archive.Error{Msg: "m"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := archive.OnlyBusy(c.err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
