package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
)

// A place on another machine is served by the strandline there, started by ssh, over its
// standard streams: a greeting, then a response to each request. Both are a line of JSON
// and Size bytes.

// placeRequest is a call of a method of place.
type placeRequest struct {
	Do   string `json:"do"` // list, read, write or remove
	Name string `json:"name,omitempty"`
	Size int    `json:"size,omitempty"` // bytes after the line
}

type placeResponse struct {
	Archive int              `json:"archive,omitempty"` // version of the protocol, in the greeting
	Packs   map[string]int64 `json:"packs,omitempty"`
	Size    int              `json:"size,omitempty"`
	Code    archive.Code     `json:"code,omitempty"`
	Error   string           `json:"error,omitempty"`
	Hint    string           `json:"hint,omitempty"`
}

const (
	placeProtocol = 1
	maxGreeting   = 64 << 10 // bytes that a login shell may print before the greeting
	maxPlaceLine  = 64 << 20 // of a listing
)

// remotePlace is the client's end.
type remotePlace struct {
	in   *bufio.Reader
	conn io.ReadWriteCloser
	host string
}

// dialPlace starts ssh.
func (a *App) dialPlace(ctx context.Context, u *url.URL) (place, error) {
	_, password := u.User.Password()
	switch {
	case a.Pipe == nil:
		return nil, ErrNotLinked
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-") || u.Path == "" || u.Path == "/":
		return nil, archive.Invalid("the address is not ssh://[user@]host/path", "ssh://host/~/folder is in the home folder there")
	case password:
		return nil, archive.Invalid("the address holds a password", "ssh asks for it, or better takes a key")
	}
	host := u.Hostname()
	if name := u.User.Username(); name != "" {
		host = name + "@" + host
	}
	argv := []string{"ssh"}
	if u.Port() != "" {
		argv = append(argv, "-p", u.Port())
	}
	path := strings.TrimPrefix(u.Path, "/~/")
	if path != u.Path {
		path = "~/" + path
	}
	conn, err := a.Pipe(ctx, append(argv, "--", host, "strandline archive serve "+shellQuote(path)))
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeNotFound, Msg: "cannot start ssh", Err: err, Hint: "is it in PATH?"}
	}
	p := &remotePlace{in: bufio.NewReaderSize(conn, 64<<10), conn: conn, host: host}
	if err := p.greet(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// greet reads up to the greeting. What a login shell prints before it is ignored.
func (p *remotePlace) greet() error {
	for read := 0; read < maxGreeting; {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			break
		}
		read += len(line)
		var r placeResponse
		if json.Unmarshal(line, &r) != nil || r.Archive == 0 {
			continue
		}
		if r.Archive != placeProtocol {
			return archive.Invalid("strandline on "+p.host+" has another version", "install the same version on both machines")
		}
		return nil
	}
	return p.lost(errors.New("no answer"))
}

// lost describes the end of a connection.
func (p *remotePlace) lost(err error) error {
	if cerr := p.conn.Close(); cerr != nil {
		err = cerr
	}
	return &archive.Error{
		Code: archive.CodeBusy, Msg: "the connection to " + p.host + " ended", Err: err,
		Hint: "test it with: ssh " + p.host + " strandline version; the same command continues",
	}
}

// do sends a request and returns the response with its bytes.
func (p *remotePlace) do(ctx context.Context, q placeRequest, body []byte) (r placeResponse, data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return r, nil, err
	}
	q.Size = len(body)
	line, err := json.Marshal(q)
	if err == nil {
		_, err = p.conn.Write(append(append(line, '\n'), body...))
	}
	if err == nil {
		line, err = readLine(p.in)
	}
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err == nil && (r.Size < 0 || r.Size > maxPackFile) {
		err = errors.New("a response is too long")
	}
	if err == nil {
		data = make([]byte, r.Size)
		_, err = io.ReadFull(p.in, data)
	}
	switch {
	case ctx.Err() != nil:
		return r, nil, ctx.Err()
	case err != nil:
		return r, nil, p.lost(err)
	case r.Error != "":
		return r, nil, &archive.Error{Code: r.Code, Msg: p.host + ": " + r.Error, Hint: r.Hint}
	}
	return r, data, nil
}

// readLine reads a line of at most maxPlaceLine bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxPlaceLine {
			return nil, errors.New("a line is too long")
		}
	}
}

// List implements place.
func (p *remotePlace) List(ctx context.Context) (map[string]int64, error) {
	r, _, err := p.do(ctx, placeRequest{Do: "list"}, nil)
	packs := map[string]int64{}
	for name, size := range r.Packs {
		if _, _, ok := packName(name); ok {
			packs[name] = size
		}
	}
	return packs, err
}

// Read implements place.
func (p *remotePlace) Read(ctx context.Context, name string) ([]byte, error) {
	_, data, err := p.do(ctx, placeRequest{Do: "read", Name: name}, nil)
	return data, err
}

// Write implements place.
func (p *remotePlace) Write(ctx context.Context, name string, data []byte) error {
	_, _, err := p.do(ctx, placeRequest{Do: "write", Name: name}, data)
	return err
}

// Remove implements place.
func (p *remotePlace) Remove(ctx context.Context, name string) error {
	_, _, err := p.do(ctx, placeRequest{Do: "remove", Name: name}, nil)
	return err
}

// Close implements place.
func (p *remotePlace) Close() error { return p.conn.Close() }

// ServePlace serves a folder to the client's end until in ends. A path that begins with
// "~/" is below the home folder.
func (a *App) ServePlace(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(a.Home, filepath.FromSlash(rest))
	}
	if !filepath.IsAbs(dir) {
		return archive.Invalid(dir+" is not an absolute path", "")
	}
	p, _, err := a.openPlace(ctx, dir)
	if err != nil {
		return err
	}
	answer := func(r placeResponse, data []byte) error {
		r.Size = len(data)
		line, err := json.Marshal(r)
		if err == nil {
			_, err = out.Write(append(append(line, '\n'), data...))
		}
		return err
	}
	if err := answer(placeResponse{Archive: placeProtocol}, nil); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if len(bytes.TrimSpace(line)) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		var q placeRequest
		if err == nil {
			err = json.Unmarshal(line, &q)
		}
		if err == nil && (q.Size < 0 || q.Size > maxPackFile) {
			err = errors.New("a request is too long")
		}
		body := make([]byte, max(0, min(q.Size, maxPackFile)))
		if err == nil {
			_, err = io.ReadFull(lines, body)
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		r, data := serveRequest(ctx, p, q, body)
		if err := answer(r, data); err != nil {
			return err
		}
	}
}

// serveRequest calls a method of a place.
func serveRequest(ctx context.Context, p place, q placeRequest, body []byte) (r placeResponse, data []byte) {
	var err error
	switch q.Do {
	case "list":
		r.Packs, err = p.List(ctx)
	case "read":
		data, err = p.Read(ctx, q.Name)
	case "write":
		err = p.Write(ctx, q.Name, body)
	case "remove":
		err = p.Remove(ctx, q.Name)
	default:
		err = archive.Invalid("unknown request "+archive.Clip(q.Do, 20), "")
	}
	if errors.Is(err, os.ErrNotExist) {
		err = archive.NotFound("it does not exist: "+q.Name, "")
	}
	if err != nil {
		r.Code, r.Error, r.Hint = archive.ErrorCode(err), ErrorText(err), archive.ErrorHint(err)
	}
	return r, data
}
