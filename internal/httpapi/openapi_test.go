package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

func TestPublishedDocumentIsCurrent(t *testing.T) {
	w := newFixture(t)
	out := w.get("/api/v1/openapi.json")
	if out.Code != 200 {
		t.Fatalf("%d %s", out.Code, out.Body)
	}
	generated, err := describe(w.server.routes, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	generated = append(generated, '\n')
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.ReplaceAll(generated, []byte(`"1.2.3"`), []byte(`"1"`)), "", " "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pretty.Bytes(), openAPI) || !bytes.Equal(generated, out.Body.Bytes()) {
		t.Error("openapi.json is outdated: go test ./internal/httpapi -run Document -update")
	}
}

// Every route is documented, and its response fits its schema.
func TestResponsesFitTheirSchemas(t *testing.T) {
	ids := map[string]bool{}
	w := newFixture(t)
	doc := decoded[struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct {
				Content map[string]struct{ Schema *jsonschema.Schema }
			}
		}
	}](t, w.get("/api/v1/openapi.json"))
	described := 0
	for _, methods := range doc.Paths {
		described += len(methods)
	}
	if described != len(w.server.routes) {
		t.Errorf("%d of %d routes are documented", described, len(w.server.routes))
	}
	for _, r := range w.server.routes {
		op, ok := doc.Paths[apiPath+r.path][strings.ToLower(r.method)]
		if !ok || op.OperationID != r.id || ids[r.id] || r.summary == "" {
			t.Errorf("%s %s is documented as %+v", r.method, r.path, op)
			continue
		}
		ids[r.id] = true
		if r.method != "GET" || r.answer == nil {
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			path := strings.NewReplacer("{session}", "7f3a12cd", "{place}", "1.0", "{snapshot}", "s1", "{index}", "0").Replace(r.path)
			sep := "?"
			for _, p := range r.params {
				if p.required {
					path += sep + p.name + "=x"
					sep = "&"
				}
			}
			out := w.get("/api/v1" + path)
			if out.Code != 200 || out.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%s: %d %s", path, out.Code, out.Body)
			}
			schema := op.Responses["200"].Content["application/json"].Schema
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(decoded[any](t, out)); err != nil {
				t.Errorf("%s does not fit its schema: %v\n%s", path, err, out.Body)
			}
			for name := range decoded[map[string]any](t, out) {
				if _, ok := schema.Properties[name]; !ok && len(schema.Properties) > 0 {
					t.Errorf("%s is in the response but not in the schema", name)
				}
			}
			if reflect.DeepEqual(schema, &jsonschema.Schema{}) {
				t.Error("the schema is empty")
			}
		})
	}
}
