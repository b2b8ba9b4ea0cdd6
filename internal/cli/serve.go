package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Browsing is the initial state of the terminal browser.
type Browsing struct {
	Project  string // name of the current project
	All      bool   // search all projects
	Query    string
	Sessions int // number of archived sessions
}

func (a *commands) browseCommand(cmd *cobra.Command) {
	all := cmd.Flags().Bool("all", false, "start with all projects")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in, ok := a.env.Stdin.(io.Writer) // a terminal is a file
		if !ok || a.columns(in) == 0 || a.columns(a.env.Stdout) == 0 {
			return archive.Invalid("browse needs a terminal", "use `strandline search QUERY`")
		}
		if a.env.Frontends == nil {
			return a.env.Companion(cmd.Context())
		}
		here, err := a.app.CurrentProject(cmd.Context())
		if err != nil {
			return err
		}
		return a.env.Frontends.Browse(cmd.Context(), Browsing{
			Project: here.Name, All: *all || !here.Archived, Query: strings.Join(args, " "), Sessions: here.Sessions,
		})
	}
}

// Serving are the options of an HTTP server.
type Serving struct {
	Listen  string   // HOST:PORT
	Network bool     // reachable from other machines
	Hosts   []string // host names that requests may use
	Exact   bool     // transcripts may leave unredacted
	Compat  string   // the earlier service whose requests are answered, without a token; "" for none
	Log     *slog.Logger
	Guard   bool // run a guard beside it, unless one runs
	// Announce is called once the server listens: it stores the token and prints
	// the address. link makes an address that admits one browser.
	Announce func(url string, link func() string, token string) error
	// Token admits requests; "" makes a new one.
	Token string
}

// serveFlags are the flags of serve.
type serveFlags struct {
	Serving
	tokenFile string
	untilEOF  bool
	noGuard   bool
}

func (a *commands) serveCommand(cmd *cobra.Command) {
	var f serveFlags
	cmd.RunE = a.linked(func(ctx context.Context, _ []string) error {
		if f.Compat != "" {
			return a.serveCompat(ctx, f, cmd.Flags().Changed("listen"))
		}
		return a.serve(ctx, f)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.Listen, "listen", "127.0.0.1:0", "HOST:PORT; port 0 is any free port")
	fl.BoolVar(&f.Network, "network", false, "accept other machines, in clear text; read docs/http.md first")
	fl.StringSliceVar(&f.Hosts, "host", nil, "host name that requests may use, besides addresses and localhost (HOST or HOST:PORT)")
	fl.StringVar(&f.tokenFile, "token-file", "", "read the token from this file, which is created if missing")
	fl.BoolVar(&f.Exact, "exact", false, "let programs fetch exact transcripts, including secrets")
	fl.StringVar(&f.Compat, "compat", "", "answer the requests of an earlier service instead: dcm, on 127.0.0.1:3847, without a token")
	fl.BoolVar(&f.noGuard, "no-guard", false, "do not capture sessions while it runs")
	fl.BoolVar(&f.untilEOF, "until-eof", false, "end when stdin ends, for programs that start it")
	a.jsonFlag(cmd)
}

// servingJSON is the address of a server, for scripts.
type servingJSON struct {
	URL       string `json:"url"`
	Link      string `json:"link"`
	TokenFile string `json:"token_file"`
	PID       int    `json:"pid"`
}

func (a *commands) serve(ctx context.Context, f serveFlags) (err error) {
	w, err := a.app.Workspace()
	if err != nil {
		return err
	}
	s, path := f.Serving, w.Config.Paths.ServeToken()
	s.Log, s.Guard = w.Logger(), !f.noGuard
	if f.tokenFile != "" {
		path = a.app.Abs(f.tokenFile)
		if s.Token, err = readToken(path); err != nil {
			return err
		}
	} else {
		own, err := ownTokenFile(path)
		if err != nil {
			return err
		}
		path = own.path
		defer own.lock.Release() // also released when the process ends
	}
	written := "" // the token that this server wrote to the file
	s.Announce = func(url string, link func() string, token string) error {
		if token != s.Token {
			written = token
			if err := state.Replace(path, []byte(token+"\n")); err != nil {
				return cannotWrite(path, err)
			}
			if again, err := readToken(path); err == nil && again != token {
				return &archive.Error{Code: archive.CodeBusy, Msg: "another server has just written " + path, Hint: "start this one again, to share its token"}
			}
		}
		return a.announce(servingJSON{URL: url, Link: link(), TokenFile: path, PID: os.Getpid()}, f)
	}
	defer func() {
		if token, _ := readToken(path); f.tokenFile == "" && written != "" && token == written {
			err = errors.Join(err, os.Remove(path)) // the token is invalid now
		}
	}()
	return a.runServer(ctx, s, f.untilEOF)
}

// runServer runs a server until ctx ends or, with untilEOF, stdin does.
func (a *commands) runServer(ctx context.Context, s Serving, untilEOF bool) error {
	if untilEOF {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, a.env.Stdin) // an error ends it as well
			end()
		}()
	}
	return a.env.Frontends.ServeHTTP(ctx, s)
}

// compatAddress is where the hooks of the earlier service look for it.
const compatAddress = "127.0.0.1:3847"

// serveCompat answers the requests of an earlier service. listening means that --listen is
// given.
func (a *commands) serveCompat(ctx context.Context, f serveFlags, listening bool) error {
	if f.Compat != "dcm" {
		return archive.Invalid(fmt.Sprintf("there is no service %q", archive.Clip(f.Compat, 40)), "use --compat dcm")
	}
	if f.Network || len(f.Hosts) > 0 || f.Exact || f.tokenFile != "" {
		return archive.Invalid("--compat asks for no token, so only this machine may connect", "leave out --network, --host, --exact and --token-file")
	}
	w, err := a.app.Workspace()
	if err != nil {
		return err
	}
	s := f.Serving
	s.Log, s.Guard = w.Logger(), !f.noGuard
	if !listening {
		s.Listen = compatAddress
	}
	s.Announce = func(url string, _ func() string, _ string) error {
		if a.json {
			return a.printJSON(servingJSON{URL: url, PID: os.Getpid()})
		}
		fmt.Fprintf(a.out, "Strandline answers the requests of Claude-DCM's hooks on %s\n\n", a.paint().bold(url))
		if url != "http://"+compatAddress {
			fmt.Fprintf(a.out, "  export CONTEXT_MANAGER_URL=%s\n\n", url)
		}
		return a.println("Programs of this machine need no token. It ends with Ctrl-C.")
	}
	return a.runServer(ctx, s, f.untilEOF)
}

// announce prints the address of the server.
func (a *commands) announce(s servingJSON, f serveFlags) error {
	if a.json {
		return a.printJSON(s)
	}
	fmt.Fprintf(a.out, "Strandline serves this archive on %s\n\n", a.paint().bold(s.URL))
	fmt.Fprintf(a.out, "  open once   %s\n  token       %s\n\n", s.Link, s.TokenFile)
	if f.Network {
		fmt.Fprintln(a.out, "Other machines can connect, in clear text. docs/http.md describes how to encrypt the connection.")
	}
	if f.Exact {
		fmt.Fprintln(a.out, "Holders of the token can fetch transcripts including secrets.")
	}
	return a.println("It ends with Ctrl-C.")
}

// tokenFile is a token file that one server writes, and the lock that it holds.
type tokenFile struct {
	path string
	lock *state.Lock
}

// maxServers is how many servers of one archive have a token file each.
const maxServers = 64

// ownTokenFile returns the token file at path, or one beside it if another server uses
// that.
func ownTokenFile(path string) (own tokenFile, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return own, cannotWrite(path, err)
	}
	name, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	for i := 2; i <= maxServers; i++ {
		lock, err := state.TryLock(path + ".lock")
		if !errors.Is(err, state.ErrHeld) {
			if err != nil {
				return own, cannotWrite(path, err)
			}
			return tokenFile{path, lock}, nil
		}
		path = fmt.Sprintf("%s-%d%s", name, i, ext)
	}
	return own, &archive.Error{Code: archive.CodeBusy, Msg: "too many servers of this archive are running", Hint: "end one of them"}
}

// minToken is the minimum length in characters of a token in a file.
const minToken = 32

// readToken returns the token in a file, "" if the file does not exist.
func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &archive.Error{Code: archive.CodeDenied, Msg: "cannot read " + path, Err: err, Hint: "name a file that you may read"}
	}
	if err := state.CheckPrivate(path); err != nil {
		return "", &archive.Error{Code: archive.CodeDenied, Msg: "the token in " + path + " is not secret", Err: err, Hint: "own the file and run: chmod 600 " + path}
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", archive.Invalid(path+" holds no token", fmt.Sprintf("a token is one word of at least %d characters; delete the file to get a new one", minToken))
	}
	return token, nil
}
