package kubernetes

import (
	"strings"
	"testing"
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

		"bootstrap": {"spec: {volumes: [{name: bootstrap, $patch: delete}]}",
			`a patch takes away the volume "bootstrap"`},
		"program":   {"spec: {volumes: null}", `a patch takes away the volume "program"`},
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
