package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Serving are the options of an HTTP server.
type Serving struct {
	Listen  string   // HOST:PORT
	Network bool     // reachable from other machines
	Hosts   []string // host names that requests may use
	Exact   bool     // transcripts may leave unredacted
	Log     *slog.Logger
	// Announce is called once the server listens: it stores the token and prints
	// the address. link makes an address that admits one browser.
	Announce func(url string, link func() string, token string) error
	// Token admits requests; "" makes a new one.
	Token string
}

// serveFlags are those of the serve command.
type serveFlags struct {
	listen, tokenFile string
	network, exact    bool
	hosts             []string
	untilEOF, asJSON  bool
}

func (a *commands) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the archive over HTTP: a page for people, JSON for programs",
		Long: `Serve the archive over HTTP until it is interrupted: a page to search and read sessions
in, and a JSON API under /api/v1 (GET /api/v1/openapi.json describes it). It prints a
link that opens the page in one browser, once.

Only this machine can reach it, and every request needs the token: Authorization:
Bearer TOKEN, or the cookie that the link sets. The token is made anew at each start and
stands in state/serve.token of the archive's folder; --token-file keeps one.

Secrets are replaced by placeholders in all that leaves. --exact lets programs fetch
transcripts as they are.

  strandline serve                           on a free port of this machine
  strandline serve --listen 127.0.0.1:7373   on this one
  curl -H "Authorization: Bearer $(cat FILE)" http://127.0.0.1:7373/api/v1/stats`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.env.Frontends == nil || a.app.NeedsNetwork() {
				return a.env.Companion(cmd.Context())
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "HOST:PORT; port 0 is any that is free")
	fl.BoolVar(&f.network, "network", false, "let other machines reach it, in clear text; see docs/http.md first")
	fl.StringSliceVar(&f.hosts, "host", nil, "a name that it may be called by, beside addresses and localhost (HOST or HOST:PORT)")
	fl.StringVar(&f.tokenFile, "token-file", "", "take the token from this file, which is made if it is not there")
	fl.BoolVar(&f.exact, "exact", false, "let transcripts leave byte for byte, with the secrets in them")
	fl.BoolVar(&f.untilEOF, "until-eof", false, "end when standard input does, for programs that start it")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// servingJSON is where a server is, for scripts.
type servingJSON struct {
	URL       string `json:"url"`
	Link      string `json:"link"`
	TokenFile string `json:"token_file"`
	PID       int    `json:"pid"`
}

func (a *commands) serve(ctx context.Context, f serveFlags) (err error) {
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	s := Serving{
		Listen: f.listen, Network: f.network, Hosts: f.hosts, Exact: f.exact,
		Log: r.Logger(),
	}
	path := f.tokenFile
	if path == "" {
		path = r.Config.Paths.ServeToken()
	} else if s.Token, err = readToken(a.app.Abs(path)); err != nil {
		return err
	} else {
		path = a.app.Abs(path)
	}
	made := "" // the token that is in the file because of this server
	s.Announce = func(url string, link func() string, token string) error {
		if token != s.Token {
			made = token
			if err := state.Replace(path, []byte(token+"\n")); err != nil {
				return cannotWrite(path, err)
			}
		}
		return a.announce(servingJSON{URL: url, Link: link(), TokenFile: path, PID: os.Getpid()}, f)
	}
	defer func() {
		if token, _ := readToken(path); f.tokenFile == "" && made != "" && token == made {
			err = errors.Join(err, os.Remove(path)) // nobody is let in by it any more
		}
	}()
	if f.untilEOF {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, a.env.Stdin) // whatever ends it, nobody is there any more
			end()
		}()
	}
	return a.env.Frontends.ServeHTTP(ctx, s)
}

// announce says where the server is.
func (a *commands) announce(s servingJSON, f serveFlags) error {
	if f.asJSON {
		return a.printJSON(s)
	}
	p := a.paint()
	fmt.Fprintf(a.out, "Strandline serves this archive on %s\n\n", p.bold(s.URL))
	fmt.Fprintf(a.out, "  open once   %s\n  token       %s\n\n", s.Link, s.TokenFile)
	if f.network {
		fmt.Fprintln(a.out, "Other machines can reach it, and read what they exchange with it. docs/http.md says how to hide that.")
	}
	if f.exact {
		fmt.Fprintln(a.out, "Whoever has the token can fetch transcripts with the secrets in them.")
	}
	fmt.Fprintln(a.out, "It ends with Ctrl-C.")
	return nil
}

// minToken is the fewest characters of a token that somebody chose.
const minToken = 32

// readToken reads the token in a file; one that is not there yet is "".
func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &archive.Error{Code: archive.CodeDenied, Msg: "cannot read " + path, Err: err, Hint: "name a file that you may read"}
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", archive.Invalid(path+" holds no token", fmt.Sprintf("a token is one word of at least %d characters; delete the file and one is made", minToken))
	}
	return token, nil
}
