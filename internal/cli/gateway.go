package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/usage"
)

// Relay is a gateway to start.
type Relay struct {
	Listen   string // HOST:PORT; port 0 is any free one
	Upstream string // address of the API
	Token    string // part of the address that a client uses
	// Notice takes a line for the user while the gateway runs.
	Notice func(line string)
}

// Relayed is a running gateway.
type Relayed struct {
	Address string                      // replaces the API's address in the client's environment
	Serve   func(context.Context) error // runs until the context ends
	Report  func() string               // returns a summary line
}

// upstreamEnv holds the address of the API, for the client; defaultUpstream is the
// client's default.
const (
	upstreamEnv     = "ANTHROPIC_BASE_URL"
	defaultUpstream = "https://api.anthropic.com"
)

// activeEnv informs hooks that the gateway compacts.
const activeEnv = "STRANDLINE_GATEWAY_ACTIVE"

// relayEnv is the environment of a client that uses a gateway.
func relayEnv(g Relayed) []string {
	return []string{upstreamEnv + "=" + g.Address, activeEnv + "=true"}
}

// relayCommand adds the flags of a gateway. run is called with a started gateway.
func (a *commands) relayCommand(cmd *cobra.Command, notice func(line string), run func(ctx context.Context, args []string, start func(context.Context) (Relayed, error)) error) {
	var r Relay
	cmd.Flags().StringVar(&r.Listen, "listen", "127.0.0.1:0", "`HOST:PORT` to listen on, of this machine only; port 0 takes a free one")
	cmd.Flags().StringVar(&r.Upstream, "upstream", "", "`ADDRESS` of the API (default: "+upstreamEnv+", else "+defaultUpstream+")")
	cmd.RunE = a.linked(func(ctx context.Context, args []string) error {
		return run(ctx, args, func(ctx context.Context) (Relayed, error) {
			r.Upstream = cmp.Or(r.Upstream, a.app.Getenv(upstreamEnv), defaultUpstream)
			r.Token, r.Notice = rand.Text(), notice
			return a.env.Frontends.Relay(ctx, r)
		})
	})
}

func (a *commands) gatewayCommand(cmd *cobra.Command) {
	addCommands(cmd, command{"", "stats", "Show what gateways pruned, and the tokens of their requests", func(cmd *cobra.Command) {
		query(a, cmd, func(context.Context, []string) (app.GatewayStats, error) { return a.app.GatewayStats() }, a.printGateway)
	}})
	notice := func(line string) { fmt.Fprintln(a.errOut, "note: "+line) }
	a.relayCommand(cmd, notice, func(ctx context.Context, _ []string, start func(context.Context) (Relayed, error)) error {
		g, err := start(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "export %s\n", strings.Join(relayEnv(g), " "))
		err = g.Serve(ctx)
		fmt.Fprintln(a.errOut, g.Report())
		return err
	})
}

func (a *commands) runCommand(cmd *cobra.Command) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return wrongUsage("the program to start is missing", "write it after --, as in `strandline run -- claude`")
		}
		return nil
	}
	notices := new(syncedLines) // the program has the terminal until it ends
	a.relayCommand(cmd, notices.add, func(ctx context.Context, args []string, start func(context.Context) (Relayed, error)) error {
		// The program handles interrupts; the gateway ends with it.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		if _, err := a.app.System.LookPath(args[0]); err != nil {
			return &archive.Error{Code: archive.CodeNotFound, Msg: "unknown program " + args[0], Err: err, Hint: "is it in PATH?"}
		}
		g, err := start(ctx)
		if err != nil {
			return err
		}
		served := make(chan error, 1)
		go func() { served <- g.Serve(ctx) }()
		code, err := a.env.RunProgram(args, relayEnv(g))
		cancel()
		if serr := <-served; err == nil {
			err = serr
		}
		for _, line := range notices.all() {
			fmt.Fprintln(a.errOut, "note: "+line)
		}
		if err == nil && code != 0 {
			err = programError{code}
		}
		return err
	})
}

// syncedLines collects lines from several goroutines.
type syncedLines struct {
	mu    sync.Mutex
	lines []string
}

func (s *syncedLines) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *syncedLines) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines
}

func (a *commands) printGateway(st app.GatewayStats) error {
	if st.Requests == 0 {
		return a.println("No request went through a gateway yet. `strandline run -- claude` starts one.")
	}
	line := func(name, text string) { fmt.Fprintf(a.out, "%-12s %s\n", name, text) }
	tokens := usage.FormatTokens
	line("since", a.stamp(st.Since))
	line("requests", fmt.Sprintf("%d, %d of them pruned by %s in all", st.Requests, st.Pruned, size(st.Bytes)))
	line("pruned", fmt.Sprintf("%s, %s, counted in each request", count(int(st.Results), "result"), fmt.Sprintf("%d replies and thoughts", st.Texts)))
	line("compactions", fmt.Sprintf("%d avoided, %d answered without a model", st.Avoided, st.Compactions))
	line("tokens in", fmt.Sprintf("%s, %s read from the cache, %s written to it", tokens(st.Input), tokens(st.CacheRead), tokens(st.CacheWrite)))
	line("tokens out", tokens(st.Output))
	return nil
}
