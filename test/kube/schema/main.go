// Command schema writes the part of Kubernetes' published OpenAPI description that
// Jobs, Services and Secrets are made of as one JSON Schema that knows no other fields:
//
//	go run ./schema > ../../executor/launcher/kubernetes/testdata/schema.json
//
// It is run by hand when the version in go.mod changes.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type object = map[string]any

var wanted = map[string]string{
	"Job":     "io.k8s.api.batch.v1.Job",
	"Service": "io.k8s.api.core.v1.Service",
	"Secret":  "io.k8s.api.core.v1.Secret",
}

func main() {
	module := "k8s.io/kubernetes"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}\n{{.Version}}", module).Output()
	if err != nil {
		log.Fatalf("finding %s: %v", module, err)
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	all := object{}
	for _, group := range []string{"api__v1", "apis__batch__v1"} {
		text, err := os.ReadFile(filepath.Join(dir, "api/openapi-spec/v3", group+"_openapi.json"))
		if err != nil {
			log.Fatal(err)
		}
		var doc struct {
			Components struct{ Schemas object }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			log.Fatal(err)
		}
		for name, schema := range doc.Components.Schemas {
			all[name] = schema
		}
	}
	used := object{}
	var choices []any
	for _, kind := range []string{"Job", "Secret", "Service"} {
		take(wanted[kind], all, used)
		choices = append(choices, object{
			"if":   object{"properties": object{"kind": object{"const": kind}}, "required": []string{"kind"}},
			"then": object{"$ref": "#/components/schemas/" + wanted[kind]},
		})
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", " ")
	err = enc.Encode(object{
		"$comment": "Of the OpenAPI description in " + module + " " + version +
			" (Apache License 2.0), without its texts",
		"required":   []string{"apiVersion", "kind", "metadata"},
		"properties": object{"kind": object{"enum": []string{"Job", "Secret", "Service"}}},
		"allOf":      choices,
		"components": object{"schemas": used},
	})
	if err != nil {
		log.Fatal(err)
	}
}

// take takes a type over and all that it is made of.
func take(name string, all, used object) {
	if used[name] != nil {
		return
	}
	used[name] = true // which ends circles
	used[name] = bare(all[name].(object), all, used)
}

// kept says which words of a description validate something.
func kept(word string) bool {
	switch word {
	case "type", "format", "enum", "required", "items", "properties", "additionalProperties", "allOf", "oneOf", "$ref":
		return true
	}
	return false
}

func bare(schema, all, used object) object {
	out := object{}
	for word, value := range schema {
		if !kept(word) {
			continue
		}
		switch value := value.(type) {
		case string:
			if ref, ok := strings.CutPrefix(value, "#/components/schemas/"); ok && word == "$ref" {
				take(ref, all, used)
			}
			out[word] = value
		case object:
			if word == "properties" {
				properties := object{}
				for name, p := range value {
					properties[name] = bare(p.(object), all, used)
				}
				out[word], out["additionalProperties"] = properties, false
				continue
			}
			out[word] = bare(value, all, used)
		case []any:
			list := make([]any, len(value))
			for i, v := range value {
				if list[i] = v; word == "allOf" || word == "oneOf" {
					list[i] = bare(v.(object), all, used)
				}
			}
			out[word] = list
		}
	}
	return out
}
