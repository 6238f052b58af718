package kubernetes

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/lab/kube"
)

func TestPatchesRefused(t *testing.T) {
	kubectl := kube.Kubectl(t)
	for name, c := range map[string]struct{ patch, want string }{
		"empty":        {"# nothing\n", "patch.yaml: the file holds no patch"},
		"no mapping":   {"- op: add\n", "patch.yaml: a patch is a mapping"},
		"not YAML":     {"a: b: c", "patch.yaml: yaml: "},
		"unknown part": {"data: {a: b}", `patch.yaml: a patch has no "data"`},
		"another kind": {"spec: {}\n---\nkind: ConfigMap\nspec: {}", "patch.yaml, document 2: weir makes no ConfigMap"},
		"spec a text":  {"spec: high", "patch.yaml: spec must be a mapping"},
		"no key": {"spec: {containers: [{image: x}]}",
			"patch.yaml: kubectl patch: error: map: map[image:x] does not contain declared merge key: name"},

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
		"template":  {"kind: Job\nspec: {template: null}\n---\nspec: {}", "a patch takes away the label"},
		"too large": {strings.Repeat("#", maxPatch+1), "1 MiB is allowed"},

		"metadata of pods": {"kind: Job\nspec: {template: {metadata: null}}", "a patch takes away the label"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := ReadPatches([]byte(c.patch), "patch.yaml")
			if err == nil {
				l := launcherOf(t, options(func(o *Options) { o.Kubectl, o.Patches = kubectl, all }))
				_, err = l.Render(request(t, 2))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
