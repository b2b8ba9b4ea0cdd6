package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// document is an OpenAPI 3.1 document.
type document map[string]any

// describe returns the OpenAPI document of the routes.
func describe(routes []route, version string) (json.RawMessage, error) {
	paths := map[string]any{}
	for _, r := range routes {
		op, err := r.operation()
		if err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", r.method, r.path, err)
		}
		path := apiPath + r.path
		item, ok := paths[path].(map[string]any)
		if !ok {
			item = map[string]any{}
			paths[path] = item
		}
		item[strings.ToLower(r.method)] = op
	}
	problem, err := schemaOf(reflect.TypeFor[Problem]())
	if err != nil {
		return nil, err
	}
	return json.Marshal(document{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Strandline", "version": version,
			"description": "Sessions of coding agents from a Strandline archive. Texts are redacted. Errors are RFC 9457 problems with Strandline's code and hint.",
		},
		"security": []any{map[string]any{"token": []any{}}, map[string]any{"cookie": []any{}}},
		"paths":    paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{
				"token":  map[string]any{"type": "http", "scheme": "bearer", "description": "the token from the file that strandline serve prints"},
				"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": "strandline_PORT", "description": "set by the login link that strandline serve prints"},
			},
			"responses": map[string]any{
				"problem": map[string]any{
					"description": "an error, with what to do", "content": map[string]any{"application/problem+json": map[string]any{"schema": problem}},
				},
			},
		},
	})
}

// operation returns a route's Operation Object.
func (r route) operation() (map[string]any, error) {
	var params []any
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			params = append(params, map[string]any{
				"name": name, "in": "path", "required": true, "schema": map[string]any{"type": "string"}, "description": wildcardDescription(name),
			})
		}
	}
	for _, p := range r.params {
		params = append(params, p.describe())
	}
	success := map[string]any{"description": r.summary}
	if r.answer != nil {
		schema, err := schemaOf(r.answer)
		if err != nil {
			return nil, err
		}
		success["content"] = map[string]any{"application/json": map[string]any{"schema": schema}}
	}
	if r.media != "" {
		success["content"] = map[string]any{r.media: map[string]any{}}
	}
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	op := map[string]any{
		"operationId": r.id, "summary": r.summary,
		"responses": map[string]any{strconv.Itoa(status): success, "default": map[string]any{"$ref": "#/components/responses/problem"}},
	}
	if params != nil {
		op["parameters"] = params
	}
	if r.body != nil {
		schema, err := schemaOf(r.body)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": schema}}}
	}
	return op, nil
}

// wildcardDescription describes a path parameter.
func wildcardDescription(name string) string {
	switch name {
	case "session":
		return "a session's handle or id, such as 7f3a12cd"
	case "snapshot":
		return "a snapshot's id, or latest"
	case "place":
		return "a turn, such as 12, or a step of it, such as 12.3"
	case "line":
		return "a line of the transcript, from 0"
	case "index":
		return "the number of the compaction or picture, from 0"
	}
	return name
}

// describe returns a query parameter's Parameter Object.
func (p param) describe() map[string]any {
	schema := map[string]any{"type": "string"}
	switch p.kind {
	case isFlag:
		schema = map[string]any{"type": "boolean", "default": false}
	case isNumber:
		schema = map[string]any{"type": "integer", "minimum": p.least, "maximum": p.most}
		if p.normal != 0 {
			schema["default"] = p.normal
		}
	}
	if p.oneOf != nil {
		schema["enum"] = p.oneOf
	}
	if p.many {
		schema = map[string]any{"type": "array", "items": schema}
	}
	out := map[string]any{"name": p.name, "in": "query", "description": p.desc, "schema": schema}
	if p.required {
		out["required"] = true
	}
	return out
}

// schemaOf returns the JSON schema of a type. Times are RFC 3339.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[archive.Tier]():    {Type: "string", Enum: []any{"L1", "L2", "L3"}},
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
	}
	add := func(base, t reflect.Type, names map[string]*jsonschema.Schema) error {
		schema, err := jsonschema.ForType(base, &jsonschema.ForOptions{TypeSchemas: known})
		if err != nil {
			return err
		}
		maps.Copy(schema.Properties, names)
		known[t] = schema
		return nil
	}
	list := func(t reflect.Type) *jsonschema.Schema {
		items, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
		if err != nil {
			items = &jsonschema.Schema{}
		}
		return &jsonschema.Schema{Type: "array", Items: items}
	}
	// The package cannot describe recursive types, nor types that embed a type with
	// a field of that type's name.
	err := errors.Join(
		add(reflect.TypeFor[app.Task](), reflect.TypeFor[app.TaskTree](), map[string]*jsonschema.Schema{
			"tasks": {Type: "array", Items: &jsonschema.Schema{Type: "object"}, Description: "the sub-agent's tasks, with the same fields"},
		}),
		add(reflect.TypeFor[app.Session](), reflect.TypeFor[app.Outline](), map[string]*jsonschema.Schema{
			"turn_list": list(reflect.TypeFor[app.Turn]()), "files": list(reflect.TypeFor[string]()),
		}))
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	loosen(schema)
	return schema, nil
}

// loosen allows unknown fields in objects, so that clients accept fields that are
// added later.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	for _, x := range s.Properties {
		loosen(x)
	}
	loosen(s.Items)
	loosen(s.AdditionalProperties)
}
