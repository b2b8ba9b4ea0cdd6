// Package web holds the page that `strandline serve` shows: plain HTML, CSS and
// ES modules, as they stand in static. Nothing is built and nothing is fetched
// from elsewhere.
package web

import (
	"embed"
	"html"
	"io/fs"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// File is one file of the page.
type File struct {
	Path string // of the address, "/" for the page itself
	Type string
	Data []byte
}

// Files lists the files of the page, without the forms of Token and Welcome.
func Files() []File {
	var out []File
	for _, name := range names() {
		if path.Ext(name) == ".html" && name != "index.html" {
			continue
		}
		at := "/" + name
		if name == "index.html" {
			at = "/"
		}
		out = append(out, File{Path: at, Type: typeOf(name), Data: read(name)})
	}
	return out
}

// Token is the form that asks for the token, with a sentence above it.
func Token(note string) File {
	text := strings.ReplaceAll(string(read("token.html")), "{{note}}", html.EscapeString(note))
	return File{Path: "/login", Type: typeOf("token.html"), Data: []byte(text)}
}

// Welcome leads to the page whom the server has just let in.
func Welcome() File {
	return File{Path: "/login", Type: typeOf("welcome.html"), Data: read("welcome.html")}
}

func names() []string {
	entries, err := fs.ReadDir(static, "static")
	if err != nil {
		panic(err) // it is part of the program
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func read(name string) []byte {
	b, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return b
}

// typeOf is the media type of a file by its name; the system's own table may say
// something else.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
