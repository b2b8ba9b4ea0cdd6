package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Limits on types outside tests and the stores' conformance suite.
const (
	maxMethods    = 12 // of an interface, embedded interfaces included
	maxFuncFields = 8  // of a struct
)

// TestTypesAreSmall: interfaces and dependency structs stay small enough to be
// implemented in a test.
func TestTypesAreSmall(t *testing.T) {
	interfaces := map[string]*ast.InterfaceType{} // "folder.Name"
	imports := map[*ast.InterfaceType]map[string]string{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || apart(name) || within(name, "internal/index/indextest") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folders := importedFolders(f)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			switch x := spec.Type.(type) {
			case *ast.InterfaceType:
				interfaces[path.Dir(name)+"."+spec.Name.Name] = x
				imports[x] = folders
			case *ast.StructType:
				if n := funcFields(x); n > maxFuncFields {
					t.Errorf("%s: struct %s has %d function fields, at most %d", name, spec.Name.Name, n, maxFuncFields)
				}
			}
			return true
		})
	}
	var methods func(key string) int
	methods = func(key string) (n int) {
		x, ok := interfaces[key]
		if !ok {
			return 1 // of the standard library or a module: counted as one
		}
		for _, m := range x.Methods.List {
			switch e := m.Type.(type) {
			case *ast.FuncType:
				n += len(m.Names)
			case *ast.Ident:
				n += methods(key[:strings.LastIndexByte(key, '.')] + "." + e.Name)
			case *ast.SelectorExpr:
				if pkg, ok := e.X.(*ast.Ident); ok {
					n += methods(imports[x][pkg.Name] + "." + e.Sel.Name)
				}
			}
		}
		return n
	}
	for key := range interfaces {
		if n := methods(key); n > maxMethods {
			t.Errorf("interface %s has %d methods, at most %d: define smaller ones where they are used", key, n, maxMethods)
		}
	}
}

// importedFolders maps the package names of a file's imports from this module to
// their folders.
func importedFolders(f *ast.File) map[string]string {
	folders := map[string]string{}
	for _, spec := range f.Imports {
		folder, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
		name := path.Base(folder)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if ours {
			folders[name] = folder
		}
	}
	return folders
}

// funcFields counts the fields of a function type.
func funcFields(x *ast.StructType) (n int) {
	for _, f := range x.Fields.List {
		if _, ok := f.Type.(*ast.FuncType); ok {
			n += max(1, len(f.Names))
		}
	}
	return n
}
