package kubernetes

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPatchesRefused(t *testing.T) {
	for name, c := range map[string]struct{ patch, want string }{
		"empty":        {"# nothing\n", "patch.yaml: the file holds no patch"},
		"no mapping":   {"- op: add\n", "patch.yaml: a patch is a mapping"},
		"not YAML":     {"a: b: c", "patch.yaml: yaml: "},
		"unknown part": {"data: {a: b}", `patch.yaml: a patch has no "data"`},
		"another kind": {"spec: {}\n---\nkind: ConfigMap\nspec: {}", "patch.yaml, document 2: weir makes no ConfigMap"},
		"spec a text":  {"spec: high", "patch.yaml: spec must be a mapping"},
		"no key": {"spec: {containers: [{image: x}]}",
			"patch.yaml: spec.containers[0] needs its name, by which Kubernetes merges containers"},
		"item a text": {"spec: {containers: [agent]}", "patch.yaml: spec.containers[0] must be a mapping"},

		"mapping on text": {"spec: {restartPolicy: {a: b}}", "patch.yaml: spec.restartPolicy is no mapping"},

		"delete nobody": {"spec: {containers: [{name: x, $patch: delete}]}", "there is no name x to delete"},

		"directive": {"spec: {$patch: merge}", "spec.$patch: must be replace here"},

		"nodes": {"kind: Job\nspec: {completions: 5}",
			"a patch makes completions 5, and the session needs 2 nodes"},
		"label":  {"metadata: {labels: {weir.dev/session: mine}}", "a patch takes away the label weir.dev/session"},
		"labels": {"kind: Service\nmetadata: {labels: null}", "a patch takes away the label weir.dev/session"},
		"name":   {"kind: Service\nmetadata: {name: mine}", "a patch renames what weir makes"},
		"agent":  {"spec: {containers: [{name: agent, $patch: delete}]}", `a patch takes away the container "agent"`},

		"bootstrap": {"spec: {volumes: null}", `a patch takes away the volume "bootstrap"`},
		"mode":      {"kind: Job\nspec: {completionMode: NonIndexed}", "a patch makes completionMode NonIndexed"},
		"all of it": {"kind: Job\nspec: {$patch: replace}", "a patch makes completions <nil>"},
		"template": {"kind: Job\nspec: {template: null}\n---\nspec: {}",
			"a patch before this one has taken the pod template away"},
		"too large": {strings.Repeat("#", maxPatch+1), "1 MiB is the most"},

		"metadata of pods": {"kind: Job\nspec: {template: {metadata: null}}", "a patch takes away the label"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := ReadPatches([]byte(c.patch), "patch.yaml")
			if err == nil {
				_, err = launcher(t, options(func(o *Options) { o.Patches = all })).Render(request(t, 2))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

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
			var into, changes, want object
			for v, text := range map[*object]string{&into: c.into, &changes: c.changes, &want: c.want} {
				if err := json.Unmarshal([]byte(text), v); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := json.Marshal(changes)
			if err := merge(into, changes, ""); err != nil {
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
	text, err := os.ReadFile("testdata/schema.json")
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

// Whatever a patch holds, it is refused or gives manifests that still are the
// session's.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("spec: {containers: [{name: agent, env: [{name: A, value: b}]}]}"))
	f.Add([]byte("kind: Job\nspec: {template: {spec: {$patch: replace}}}\n---\nspec: {volumes: [{name: x, $patch: delete}]}"))
	f.Add([]byte("kind: Service\nmetadata: {labels: {a: b}}\nspec: {ports: [{port: 1}]}"))
	r := request(f, 2)
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ReadPatches(text, "patch.yaml")
		if err != nil {
			return
		}
		l := launcher(t, options(func(o *Options) { o.Patches = all }))
		m, err := l.manifests(&r, nil)
		if err != nil {
			return
		}
		if part(m.job, "spec")["completions"] != 2 ||
			part(m.job, "spec", "template", "metadata", "labels")[mark] != Name(session) {
			t.Errorf("the manifests are not the session's any more: %v", m.job)
		}
		first, err := m.yaml()
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.manifests(&r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := again.yaml(); string(first) != string(second) {
			t.Errorf("the same patch gives\n%s\nand then\n%s", first, second)
		}
	})
}
