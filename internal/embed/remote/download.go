package remote

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/embed/onnx"
)

var _ onnx.Fetch = Fetch

// Fetch implements onnx.Fetch. Plain HTTP is used on this machine only; redirects must
// be secure as well.
func Fetch(ctx context.Context, address string, from int64) (io.ReadCloser, int64, int64, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, 0, 0, archive.Invalid("not a URL: "+archive.Clip(address, 100), "give a URL that starts with https://")
	}
	if !secure(u) {
		return nil, 0, 0, archive.Invalid(u.Host+" would send the file unencrypted", "use its https URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("fetch %s: %w", u.Host, err)
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 5 || !secure(req.URL) {
			return fmt.Errorf("a redirect to %s is not allowed", req.URL.Host)
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, 0, &archive.Error{Code: archive.CodeInternal, Msg: "cannot fetch from " + u.Host, Err: err, Hint: "check the address and the network"}
	}
	contentRange := resp.Header.Get("Content-Range")
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Body, 0, resp.ContentLength, nil
	case http.StatusPartialContent:
		if offset, size, ok := parseContentRange(contentRange); ok {
			return resp.Body, offset, size, nil
		}
	case http.StatusRequestedRangeNotSatisfiable:
		// The download is complete if the file has the size of the local part.
		if contentRange == fmt.Sprintf("bytes */%d", from) {
			return http.NoBody, from, from, resp.Body.Close()
		}
		_ = resp.Body.Close()
		return Fetch(ctx, address, 0)
	}
	_ = resp.Body.Close() // the status says what failed
	return nil, 0, 0, &archive.Error{Code: archive.CodeNotFound, Msg: u.Host + " answers " + resp.Status, Hint: "check the address"}
}

// secure reports whether a URL uses https or addresses this machine.
func secure(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// parseContentRange parses "bytes FROM-TO/SIZE"; size is -1 for "*".
func parseContentRange(s string) (offset, size int64, ok bool) {
	var last uint64
	if _, err := fmt.Sscanf(strings.Replace(s, "/*", "/-1", 1), "bytes %d-%d/%d", &offset, &last, &size); err != nil || offset < 0 {
		return 0, 0, false
	}
	return offset, size, true
}
