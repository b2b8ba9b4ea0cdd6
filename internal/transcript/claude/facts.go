package claude

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// toolUseResult reads the structured twin of a tool result. Its texts repeat the
// content block and are passed over.
func (s *scanner) toolUseResult(r *row) error {
	return s.members(func(key []byte) error {
		f := &r.result
		var unit time.Duration
		switch string(key) {
		case "durationMs", "totalDurationMs":
			unit = time.Millisecond
		case "durationSeconds":
			unit = time.Second
		case "exitCode", "returnCode", "interrupted", "backgroundTaskId", "isAsync", "returnCodeInterpretation",
			"taskId", "success":
		case "task":
			return s.members(func(key []byte) error {
				if string(key) == "id" || string(key) == "taskId" {
					return s.plainInto(&f.taskID)
				}
				return s.dec.SkipValue()
			})
		default:
			return s.dec.SkipValue()
		}
		raw, err := s.value()
		if err != nil {
			return err
		}
		if unit > 0 {
			f.duration = span(raw, unit)
			return nil
		}
		f.set(key, raw)
		return nil
	})
}

func (f *resultFacts) set(key, raw []byte) {
	switch string(key) {
	case "exitCode", "returnCode":
		if text := plain(raw); len(text) > 0 {
			f.exit, f.hasExit = int(integer(raw)), true
		}
	case "interrupted":
		f.interrupted = truth(raw)
	case "backgroundTaskId":
		f.background = f.background || len(plain(raw)) > 0
	case "isAsync":
		f.background = f.background || truth(raw)
	case "returnCodeInterpretation":
		f.nonzero = len(plain(raw)) > 0
	case "taskId":
		f.taskID = plain(raw)
	case "success":
		f.refused = string(raw) == "false"
	}
}

func (s *scanner) compactMetadata(r *row) error {
	f := new(compactFacts)
	r.compact = f
	return s.members(func(key []byte) error {
		switch string(key) {
		case "preservedSegment":
			f.segment = f.segment || s.dec.PeekKind() == jsontext.KindBeginObject
			return s.dec.SkipValue()
		case "preservedMessages":
			return s.preserved(f)
		case "trigger", "preTokens", "postTokens", "durationMs":
		default:
			return s.dec.SkipValue()
		}
		raw, err := s.value()
		switch string(key) {
		case "trigger":
			f.trigger = string(plain(raw))
		case "preTokens":
			f.pre = integer(raw)
		case "postTokens":
			f.post = integer(raw)
		case "durationMs":
			f.duration = span(raw, time.Millisecond)
		}
		return err
	})
}

// preserved counts the messages that the client kept: an object with "uuids",
// or a bare list.
func (s *scanner) preserved(f *compactFacts) error {
	count := func() error {
		f.kept++
		return s.dec.SkipValue()
	}
	switch s.dec.PeekKind() {
	case jsontext.KindBeginArray:
		f.segment = true
		return s.elements(count)
	case jsontext.KindBeginObject:
		f.segment = true
	}
	return s.members(func(key []byte) error {
		if string(key) == "uuids" {
			return s.elements(count)
		}
		return s.dec.SkipValue()
	})
}

func (s *scanner) attachment(r *row) error {
	f := new(attachFacts)
	r.attach = f
	return s.members(func(key []byte) error {
		switch string(key) {
		case "type", "commandMode", "isMeta", "prompt", "content", "text", "stdout":
		default:
			return s.dec.SkipValue()
		}
		raw, err := s.value()
		switch string(key) {
		case "type":
			f.kind = string(plain(raw))
		case "commandMode":
			f.mode = string(plain(raw))
		case "isMeta":
			f.meta = truth(raw)
		case "prompt":
			f.prompt = raw
		default:
			if len(f.text) == 0 {
				f.text = raw
			}
		}
		return err
	})
}

// intern returns the constant for a common type name, so that a row costs no
// allocation for it.
func intern(b []byte) string {
	switch string(b) {
	case typeUser:
		return typeUser
	case typeAssistant:
		return typeAssistant
	case typeSystem:
		return typeSystem
	case typeAttachment:
		return typeAttachment
	case typeQueue:
		return typeQueue
	case typeProgress:
		return typeProgress
	case typeSnapshot:
		return typeSnapshot
	}
	return string(b)
}
