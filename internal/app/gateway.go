package app

import (
	"context"
	"encoding/json"
	"time"

	"strandline/internal/state"
	"strandline/internal/usage"
)

// GatewayCounts are totals of gateways.
type GatewayCounts struct {
	Requests    int64 `json:"requests"` // to the Messages endpoint
	Pruned      int64 `json:"pruned"`   // requests with pruned content
	Results     int64 `json:"results"`  // pruned results, counted in each request
	Texts       int64 `json:"texts"`    // pruned replies and reasoning, counted in each request
	Bytes       int64 `json:"bytes"`    // removed from requests
	Compactions int64 `json:"compactions_answered"`
	// Avoided are compactions that the whole conversations would have needed.
	Avoided    int64 `json:"compactions_avoided"`
	Input      int64 `json:"input_tokens"` // as the API reports them, without those of the cache
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
}

// Plus returns the sum of both.
func (c GatewayCounts) Plus(d GatewayCounts) GatewayCounts {
	return GatewayCounts{
		c.Requests + d.Requests, c.Pruned + d.Pruned, c.Results + d.Results, c.Texts + d.Texts, c.Bytes + d.Bytes,
		c.Compactions + d.Compactions, c.Avoided + d.Avoided, c.Input + d.Input, c.Output + d.Output, c.CacheRead + d.CacheRead, c.CacheWrite + d.CacheWrite,
	}
}

// GatewayStats are the totals of all gateways of the archive.
type GatewayStats struct {
	Since time.Time `json:"since"`
	GatewayCounts
}

// gatewayKey is the key of the totals in the folder state.
const gatewayKey = "gateway"

func (w Workspace) gatewayStore() state.Store {
	return state.Store{Dir: w.Config.Paths.Gateway(), Lock: "gateway.lock"}
}

// SaveGateway adds to the totals. Several gateways may do so at once.
func (a *App) SaveGateway(ctx context.Context, c GatewayCounts) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	return w.gatewayStore().Update(ctx, gatewayKey, func(old []byte) ([]byte, error) {
		st := GatewayStats{Since: a.Now().UTC()}
		_ = json.Unmarshal(old, &st) // damaged: begin again
		st.GatewayCounts = st.Plus(c)
		return json.Marshal(st)
	})
}

// GatewayStats returns the totals; zero if no gateway has run.
func (a *App) GatewayStats() (st GatewayStats, err error) {
	w, err := a.Workspace()
	if err == nil {
		_ = w.gatewayStore().ReadJSON(gatewayKey, &st) // none yet
	}
	return st, err
}

// CompactsAt returns the tokens at which the client compacts with a model.
func (a *App) CompactsAt(model string) int64 {
	cfg, _ := a.Settings() // fallbacks have paths as well
	at, _ := usage.FindLimits(model, 0, a.Getenv, cfg.Paths.ClientSettings()...).Next()
	return int64(at)
}
