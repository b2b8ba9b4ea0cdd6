package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// TestEverySettingIsRead: every setting that `strandline config` lists is read by
// some package.
func TestEverySettingIsRead(t *testing.T) {
	parse := func(name string) *ast.File {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	unread := settings(parse("internal/config/config.go"))
	if !unread["Restore.Budget"] || !unread["Search.Limit"] {
		t.Fatalf("this test does not see the settings: %v", unread)
	}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.ToSlash(name), "internal/config/") {
			continue
		}
		selected := map[string]bool{} // a function may get a section and read its fields
		ast.Inspect(parse(name), func(n ast.Node) bool {
			if field, ok := n.(*ast.SelectorExpr); ok {
				selected[field.Sel.Name] = true
			}
			return true
		})
		maps.DeleteFunc(unread, func(setting string, _ bool) bool {
			section, leaf, _ := strings.Cut(setting, ".")
			return selected[section] && selected[leaf]
		})
	}
	for name := range unread {
		t.Errorf("nothing reads the setting config.Config.%s", name)
	}
}

// settings lists the fields of Config that are structs, inline or of the same file, with
// their own fields: "Restore.Budget".
func settings(f *ast.File) map[string]bool {
	structs := map[string]*ast.StructType{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				structs[spec.Name.Name] = s
			}
		}
		return true
	})
	found := map[string]bool{}
	for _, section := range structs["Config"].Fields.List {
		fields, _ := section.Type.(*ast.StructType)
		if kind, ok := section.Type.(*ast.Ident); ok {
			fields = structs[kind.Name]
		}
		if fields == nil {
			continue
		}
		for _, name := range section.Names {
			for _, field := range fields.Fields.List {
				for _, leaf := range field.Names {
					found[name.Name+"."+leaf.Name] = true
				}
			}
		}
	}
	return found
}
