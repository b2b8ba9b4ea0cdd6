package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strings"

	"strandline/internal/app"
	"strandline/internal/transcript/claude"
)

//go:embed share.css
var shareStyle string

// htmlShare writes a page without scripts that loads nothing.
type htmlShare struct{}

func (htmlShare) write(b *bytes.Buffer, s share) {
	fmt.Fprintf(b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
<h1>%[1]s</h1>
<p class="facts">%[3]s</p>
`, html.EscapeString(s.title), shareStyle, html.EscapeString(strings.Join(s.facts, " · ")))
	for _, p := range s.places {
		_, turn, _ := strings.Cut(p.Handle, "/")
		fmt.Fprintf(b, "<section>\n<h2 id=\"%s\"><a href=\"#%[1]s\">%s</a> <time>%s</time></h2>\n",
			"turn-"+html.EscapeString(turn), html.EscapeString(p.Handle), html.EscapeString(s.stamp(p)))
		for _, block := range p.Blocks {
			if block.Conversation() {
				htmlBlock(b, block, p)
			}
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</main>\n<footer>Written by <code>strandline share</code>. Secrets are redacted.</footer>\n</body>\n</html>\n")
}

func htmlBlock(b *bytes.Buffer, block app.Block, in app.Place) {
	head, body := html.EscapeString(sharedHead(block, in)), sharedText(block)
	switch {
	case block.Kind == claude.BlockPrompt || block.Kind == claude.BlockReply:
		fmt.Fprintf(b, "<article class=\"%s\">\n<h3>%s</h3>\n", block.Kind, head)
		htmlProse(b, body)
		b.WriteString("</article>\n")
	default:
		class := "tool"
		if block.Error {
			class = "tool failed"
		}
		fmt.Fprintf(b, "<details class=\"%s\"><summary>%s</summary>\n", class, head)
		if block.Diff != "" {
			htmlDiff(b, body)
		} else {
			fmt.Fprintf(b, "<pre>%s</pre>\n", html.EscapeString(body))
		}
		b.WriteString("</details>\n")
	}
}

// htmlProse writes Markdown as text with its line breaks; fenced code is set apart.
func htmlProse(b *bytes.Buffer, body string) {
	for i, part := range strings.Split("\n"+body, "\n```") {
		switch {
		case i%2 == 1:
			_, code, _ := strings.Cut(part, "\n") // the language is left out
			fmt.Fprintf(b, "<pre>%s</pre>\n", html.EscapeString(code))
		case strings.TrimSpace(part) != "":
			fmt.Fprintf(b, "<div class=\"prose\">%s</div>\n", html.EscapeString(strings.Trim(part, "\n")))
		}
	}
}

func htmlDiff(b *bytes.Buffer, diff string) {
	b.WriteString("<pre>")
	for line := range strings.Lines(diff) {
		tag := map[byte]string{'+': "ins", '-': "del"}[line[0]]
		if tag == "" {
			b.WriteString(html.EscapeString(line))
			continue
		}
		fmt.Fprintf(b, "<%s>%s</%[1]s>\n", tag, html.EscapeString(strings.TrimSuffix(line, "\n")))
	}
	b.WriteString("</pre>\n")
}

// markdownShare writes Markdown.
type markdownShare struct{}

func (markdownShare) write(b *bytes.Buffer, s share) {
	fmt.Fprintf(b, "# %s\n\n%s\n", s.title, strings.Join(s.facts, " · "))
	for _, p := range s.places {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", p.Handle, s.stamp(p))
		for _, block := range p.Blocks {
			if !block.Conversation() {
				continue
			}
			body := sharedText(block)
			switch {
			case block.Kind == claude.BlockPrompt || block.Kind == claude.BlockReply:
				fmt.Fprintf(b, "\n**%s**\n\n%s\n", sharedHead(block, p), body)
			case block.Diff != "":
				fmt.Fprintf(b, "\n%s\n\n%s\n", sharedHead(block, p), fenced("diff", body))
			default:
				fmt.Fprintf(b, "\n%s\n\n%s\n", sharedHead(block, p), fenced("text", body))
			}
		}
	}
}

// fenced returns a code block whose fence the code does not contain.
func fenced(language, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + language + "\n" + code + "\n" + fence
}
