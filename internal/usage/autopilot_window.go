package usage

import (
	"strings"
)

// Where the size of a window is known from, as gauge.Session.WindowFrom.
const (
	fromClient   = "client"
	fromModel    = "model"
	fromConfig   = "config"
	fromObserved = "observed"
)

// limits returns where in a session's window the client acts, and who told how
// large the window is.
func (p Monitor) limits(s Session) (Limits, string) {
	size, from := p.size(s)
	return FindLimits(s.Model, int(size), p.Getenv), from
}

// size is the window as it is told by anybody but the model, 0 where the model
// tells it. A window in which more tokens stood than it holds is not believed,
// unless it is the client's own word.
func (p Monitor) size(s Session) (int64, string) {
	known := knownModel(s.Model)
	switch {
	case s.ClientWindow > 0 && sameModel(s.ClientModel, s.Model):
		return s.ClientWindow, fromClient
	case known && s.MaxTokens <= int64(ModelWindow(s.Model)):
		return 0, fromModel
	case !known && p.Window > 0 && s.MaxTokens <= int64(p.Window):
		return int64(p.Window), fromConfig
	case s.MaxTokens > 0:
		return fitWindow(max(s.MaxTokens, int64(p.Window))), fromObserved
	}
	return 0, fromModel // the client takes a model that it does not know for a large one
}

// sameModel reports whether two names may be of one model: the client tells the
// window of "claude-opus-4-6[1m]", and the API answers as "claude-opus-4-6-20260205".
func sameModel(a, b string) bool {
	a, b = strings.TrimSuffix(a, "[1m]"), strings.TrimSuffix(b, "[1m]")
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
