// Package download opens files at an address for package model. It is apart
// because it links the network, which a hook must not.
package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/embed/onnx"
)

var _ onnx.Fetch = Fetch

// Fetch implements model.Fetch. A plain http address is taken from this machine
// only; redirects are followed to https.
func Fetch(ctx context.Context, address string, from int64) (io.ReadCloser, int64, int64, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, 0, 0, archive.Invalid("that is no address: "+archive.Clip(address, 100), "give one that begins with https://")
	}
	if !safe(u) {
		return nil, 0, 0, archive.Invalid(u.Host+" would send the file unencrypted", "use its https address")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("fetch %s: %w", u.Host, err)
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 5 || !safe(req.URL) {
			return fmt.Errorf("it leads to %s", req.URL.Host)
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, 0, &archive.Error{Code: archive.CodeInternal, Msg: "cannot fetch from " + u.Host, Err: err, Hint: "check the address and the network"}
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Body, 0, resp.ContentLength, nil
	case http.StatusPartialContent:
		begins, size, ok := contentRange(resp.Header.Get("Content-Range"))
		if ok {
			return resp.Body, begins, size, nil
		}
	case http.StatusRequestedRangeNotSatisfiable:
		// All of it is there already, if the file has the size that we have.
		if size, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes */"); ok && size == strconv.FormatInt(from, 10) {
			return http.NoBody, from, from, resp.Body.Close()
		}
		_ = resp.Body.Close()
		return Fetch(ctx, address, 0)
	}
	_ = resp.Body.Close() // the status says what is wrong
	return nil, 0, 0, &archive.Error{Code: archive.CodeNotFound, Msg: u.Host + " answers " + resp.Status, Hint: "check the address"}
}

func safe(u *url.URL) bool {
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return u.Scheme == "http" || u.Scheme == "https"
	}
	return u.Scheme == "https"
}

// contentRange reads "bytes FROM-TO/SIZE".
func contentRange(s string) (begins, size int64, ok bool) {
	m := regexp.MustCompile(`^bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)$`).FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	begins, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, 0, false
	}
	if size, err = strconv.ParseInt(m[2], 10, 64); err != nil {
		size = -1
	}
	return begins, size, true
}
