package kubectl

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct{ into, changes, want string }{
		"mappings":     {`{"a":{"b":1,"c":2}}`, `{"a":{"c":3,"d":4}}`, `{"a":{"b":1,"c":3,"d":4}}`},
		"null removes": {`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		"null in new":  {`{}`, `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`},
		"replace":      {`{"a":{"b":1}}`, `{"a":{"$patch":"replace","c":2}}`, `{"a":{"c":2}}`},
		"plain lists":  {`{"args":["a","b"]}`, `{"args":["c"]}`, `{"args":["c"]}`},
		"by name": {`{"env":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`,
			`{"env":[{"name":"b","value":"3"},{"name":"c","value":"4"}]}`,
			`{"env":[{"name":"a","value":"1"},{"name":"b","value":"3"},{"name":"c","value":"4"}]}`},
		"item deleted": {`{"env":[{"name":"a"},{"name":"b"}]}`, `{"env":[{"name":"a","$patch":"delete"}]}`,
			`{"env":[{"name":"b"}]}`},
		"by mount path": {`{"volumeMounts":[{"name":"x","mountPath":"/x"}]}`,
			`{"volumeMounts":[{"mountPath":"/x","readOnly":true}]}`,
			`{"volumeMounts":[{"name":"x","mountPath":"/x","readOnly":true}]}`},
		"service's port": {`{"ports":[{"port":1}]}`, `{"ports":[{"port":1,"name":"a"},{"port":2}]}`,
			`{"ports":[{"port":1,"name":"a"},{"port":2}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var into, changes, want Object
			for v, text := range map[*Object]string{&into: c.into, &changes: c.changes, &want: c.want} {
				if err := json.Unmarshal([]byte(text), v); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := json.Marshal(changes)
			if err := Merge(into, changes); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, into); d != "" {
				t.Error(d)
			}
			if after, _ := json.Marshal(changes); string(before) != string(after) {
				t.Errorf("the patch is now %s, was %s", after, before)
			}
		})
	}
}

// The keys of lists are those of the API's own description.
func TestMergeKeys(t *testing.T) {
	text, err := os.ReadFile("../launch/kubernetes/testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Key string `json:"x-kubernetes-patch-merge-key"`
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for name, schema := range doc.Components.Schemas {
		for field, p := range schema.Properties {
			if p.Key == "" || strings.HasSuffix(name, "Status") {
				continue
			}
			found[field] = true
			if !slices.Contains(mergeKeys[field], p.Key) {
				t.Errorf("%s of %s are merged by %v, Kubernetes has %s", field, name, mergeKeys[field], p.Key)
			}
		}
	}
	for field := range mergeKeys {
		if !found[field] {
			t.Errorf("Kubernetes merges no %s", field)
		}
	}
}
