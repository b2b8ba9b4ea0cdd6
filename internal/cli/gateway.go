package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/state"
	"strandline/internal/transcript"
)

// Relay is a gateway to an API as the commands want one.
type Relay struct {
	Listen   string // HOST:PORT; port 0: any that is free
	Upstream string // address of the API
	Token    string
	// PruneAt, PruneKeep and PruneChars are as in the settings.
	PruneAt, PruneKeep, PruneChars int
	Handles                        func(ctx context.Context, session string, ids []string) (map[string]string, error)
	Compact                        func(ctx context.Context, c Summarised) (string, error) // nil: left to the model
	NewID                          func() string
	Log                            *slog.Logger
}

// Summarised is a conversation that the client wants a summary of.
type Summarised struct {
	Session, Model, Instructions string
	Messages                     []transcript.Message
}

// Relayed is a gateway that runs.
type Relayed interface {
	// Address is what a client takes for the API's.
	Address() string
	// Serve answers until ctx ends.
	Serve(ctx context.Context) error
	// Report says what was done, in one line.
	Report() string
}

// relayFlags are those of the commands that start a gateway.
type relayFlags struct{ listen, upstream string }

// defaultUpstream is where the client sends requests when nobody says otherwise.
const defaultUpstream = "https://api.anthropic.com"

// upstreamEnv is the variable that tells the client where the API is.
const upstreamEnv = "ANTHROPIC_BASE_URL"

// activeEnv is the variable that tells hooks of a gateway that compacts.
const activeEnv = "STRANDLINE_GATEWAY_ACTIVE"

// relayEnv is what a client behind a gateway needs in its environment.
func relayEnv(g Relayed) []string {
	return []string{upstreamEnv + "=" + g.Address(), activeEnv + "=true"}
}

func (f *relayFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "`HOST:PORT` to listen on, of this machine only; port 0 takes a free one")
	cmd.Flags().StringVar(&f.upstream, "upstream", "", "`ADDRESS` of the API (default: "+upstreamEnv+", else "+defaultUpstream+")")
}

const gatewayHelp = `It passes requests on, but for two things. Above gateway.prune_at
tokens, old results of tools give way to a line with their handle, seldom and many at
once, so that the API's cache keeps working; only what the archive gives back is left
out. And when the client asks for a summary of the conversation it gets the record that
` + "`strandline compact`" + ` makes, at once and without a model; gateway.compact = false
leaves that to the model.`

func (a *commands) gatewayCommand() *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Stand between a client and the API, keeping its context small",
		Long: `Stand between a client and the Messages API until interrupted. ` + gatewayHelp + `

It prints what the client needs in its environment; the address holds a token:

  export ` + upstreamEnv + `=http://127.0.0.1:PORT/TOKEN \
         ` + activeEnv + `=true`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			g, err := a.relay(cmd.Context(), f)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(a.out, "export %s\n", strings.Join(relayEnv(g), " ")); err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			err = g.Serve(cmd.Context())
			fmt.Fprintln(a.errOut, g.Report())
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func (a *commands) runCommand() *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARGUMENT…]",
		Short: "Start a client behind a gateway of its own",
		Long: `Start a program with a gateway of its own, which ends with it. ` + gatewayHelp + `

  strandline run -- claude --resume

The exit status is the program's.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUsage("there is no program to start", "write it behind --, as in `strandline run -- claude`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			// The program decides what an interrupt means, and ends the gateway with
			// itself.
			ctx, cancel := context.WithCancel(context.WithoutCancel(cmd.Context()))
			defer cancel()
			if _, err := a.app.System.LookPath(args[0]); err != nil {
				return &archive.Error{Code: archive.CodeNotFound, Msg: "there is no program " + args[0], Err: err, Hint: "is it in PATH?"}
			}
			g, err := a.relay(ctx, f)
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
			if err == nil && code != 0 {
				err = programError{code}
			}
			return err
		},
	}
	f.register(cmd)
	return cmd
}

// relay starts a gateway as the settings want it.
func (a *commands) relay(ctx context.Context, f relayFlags) (Relayed, error) {
	r, err := a.app.Workspace()
	if err != nil {
		return nil, err
	}
	upstream := f.upstream
	if upstream == "" {
		upstream = a.app.Getenv(upstreamEnv)
	}
	if upstream == "" {
		upstream = defaultUpstream
	}
	gate := Relay{
		Listen: f.listen, Upstream: upstream, Token: rand.Text(),
		PruneAt: r.Config.Gateway.PruneAt, PruneKeep: r.Config.Gateway.PruneKeep, PruneChars: r.Config.Gateway.PruneChars,
		Handles: func(ctx context.Context, session string, ids []string) (map[string]string, error) {
			return a.handlesOf(ctx, r, session, ids)
		},
		NewID: func() string { return "msg_strandline_" + strings.ToLower(rand.Text()) },
		Log:   slog.New(slog.NewJSONHandler(&state.LogFile{Path: r.Config.Paths.Errors()}, nil)),
	}
	if r.Config.Gateway.Compact {
		gate.Compact = func(ctx context.Context, c Summarised) (string, error) { return a.recordOf(ctx, r, c) }
	}
	return a.env.Frontends.Relay(ctx, gate)
}
