package compact

import (
	"path"
	"strings"
)

// language names the language that a file's name tells, "" if it tells none.
func language(file string) string {
	switch strings.ToLower(path.Ext(strings.ReplaceAll(file, "\\", "/"))) {
	case ".go":
		return "Go"
	case ".py", ".pyi":
		return "Python"
	case ".ts", ".tsx", ".mts", ".cts":
		return "TypeScript"
	case ".js", ".jsx", ".mjs", ".cjs":
		return "JavaScript"
	case ".rs":
		return "Rust"
	case ".java":
		return "Java"
	case ".kt", ".kts":
		return "Kotlin"
	case ".swift":
		return "Swift"
	case ".c", ".h":
		return "C"
	case ".cc", ".cpp", ".cxx", ".hpp", ".hh":
		return "C++"
	case ".cs":
		return "C#"
	case ".rb":
		return "Ruby"
	case ".php":
		return "PHP"
	case ".scala":
		return "Scala"
	case ".ex", ".exs":
		return "Elixir"
	case ".sh", ".bash", ".zsh":
		return "shell"
	case ".sql":
		return "SQL"
	case ".vue":
		return "Vue"
	case ".svelte":
		return "Svelte"
	case ".css", ".scss":
		return "CSS"
	case ".html", ".tmpl":
		return "HTML"
	}
	return ""
}

// dependency returns the name of the dependency that a line of a manifest names,
// "" if the file is no manifest or the line no such line.
func dependency(manifest, line string) string {
	switch manifest {
	case "go.mod":
		return goModule(line)
	case "package.json":
		return nodePackage(line)
	case "Cargo.toml", "pyproject.toml", "Pipfile":
		return tomlPackage(line)
	case "Gemfile":
		if name, ok := strings.CutPrefix(line, "gem "); ok {
			return quoted(name)
		}
		return ""
	}
	if strings.HasPrefix(manifest, "requirements") && strings.HasSuffix(manifest, ".txt") {
		return pythonPackage(line)
	}
	return ""
}

func goModule(line string) string {
	fields := strings.Fields(strings.TrimPrefix(line, "require "))
	if len(fields) < 2 || !strings.Contains(fields[0], ".") || !strings.HasPrefix(fields[1], "v") || strings.HasSuffix(line, "// indirect") {
		return ""
	}
	return fields[0]
}

func nodePackage(line string) string {
	name, value, ok := strings.Cut(line, ":")
	name, value = quoted(name), quoted(strings.TrimSpace(value))
	if !ok || name == "" || name == "version" || name == "node" || value == "" || strings.Contains(value, " && ") {
		return ""
	}
	if strings.ContainsRune("^~*<>=", rune(value[0])) || isDigit(value[0]) && strings.Contains(value, ".") || strings.HasPrefix(value, "workspace:") {
		return name
	}
	return ""
}

func tomlPackage(line string) string {
	if strings.HasPrefix(line, "\"") || strings.HasPrefix(line, "'") {
		return pythonPackage(quoted(line)) // an entry of a list of requirements
	}
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !isName(name) || name == "version" || name == "python" || name == "requires-python" || name == "edition" || name == "rust-version" {
		return ""
	}
	version := quoted(value)
	if strings.HasPrefix(value, "{") && (strings.Contains(value, "version") || strings.Contains(value, "git ") || strings.Contains(value, "path ") || strings.Contains(value, "workspace")) {
		return name
	}
	if version != "" && (strings.ContainsRune("^~*<>=", rune(version[0])) || isDigit(version[0])) {
		return name
	}
	return ""
}

func pythonPackage(line string) string {
	at := strings.IndexAny(line, "=<>~!;[@ ")
	if at < 0 {
		at = len(line)
	}
	if name := line[:at]; isName(name) {
		return name
	}
	return ""
}

// quoted returns what stands in the first quotes of s.
func quoted(s string) string {
	at := strings.IndexAny(s, "\"'")
	if at < 0 {
		return ""
	}
	inner, _, ok := strings.Cut(s[at+1:], s[at:at+1])
	if !ok {
		return ""
	}
	return inner
}

// isName reports whether s looks like a package's name.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && isLetter(s[0])
}

// framework names the framework that a dependency is, "" for any other.
func framework(dep string) string {
	for _, f := range []struct{ name, deps string }{
		{"React", "react"}, {"Next.js", "next"}, {"Vue", "vue"}, {"Nuxt", "nuxt"}, {"Angular", "@angular/core"}, {"Svelte", "svelte"},
		{"Express", "express"}, {"Fastify", "fastify"}, {"NestJS", "@nestjs/core"}, {"Electron", "electron"}, {"Vite", "vite"},
		{"Jest", "jest"}, {"Vitest", "vitest"}, {"Playwright", "@playwright/test"}, {"Ink", "ink"},
		{"Django", "django"}, {"Flask", "flask"}, {"FastAPI", "fastapi"}, {"Click", "click"}, {"Typer", "typer"}, {"pytest", "pytest"},
		{"SQLAlchemy", "sqlalchemy"}, {"Pydantic", "pydantic"}, {"Dagster", "dagster"},
		{"Gin", "github.com/gin-gonic/gin"}, {"Echo", "github.com/labstack/echo"}, {"Fiber", "github.com/gofiber/fiber"},
		{"chi", "github.com/go-chi/chi"}, {"Cobra", "github.com/spf13/cobra"}, {"Bubble Tea", "github.com/charmbracelet/bubbletea"},
		{"Tokio", "tokio"}, {"axum", "axum"}, {"Actix", "actix-web"}, {"Rails", "rails"}, {"Sinatra", "sinatra"},
	} {
		rest, ok := strings.CutPrefix(strings.ToLower(dep), f.deps)
		if ok && (rest == "" || strings.HasPrefix(rest, "/v")) {
			return f.name
		}
	}
	return ""
}
