package kubernetes

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/kube"
)

func TestImageNews(t *testing.T) {
	const asked = "registry.test/nixl:1.5"
	item := func(named, id string) string {
		return fmt.Sprintf(`{"kind":"Pod","spec":{"containers":[{"name":"sidecar","image":"other:1"},{"name":"agent","image":%q}]},`+
			`"status":{"containerStatuses":[{"name":"sidecar","imageID":"other@sha256:ff"},{"name":"agent","imageID":%q}]}}`,
			named, id)
	}
	for name, c := range map[string]struct {
		items, want []string
		images      map[string]string
	}{
		"nodes that do not tell": {[]string{item(asked, ""), item(asked, "sha256:config")}, nil,
			map[string]string{"n0": asked, "n1": asked}},
		"the same": {
			[]string{item(asked, "registry.test/nixl@sha256:aa"), item(asked, "mirror.test/nixl@sha256:aa")},
			[]string{"image registry.test/nixl:1.5 is sha256:aa"},
			map[string]string{"n0": asked + "@sha256:aa", "n1": asked + "@sha256:aa"},
		},
		"a moved tag": {
			[]string{item(asked, "registry.test/nixl@sha256:bb"), item(asked, "registry.test/nixl@sha256:aa")},
			[]string{"warning: image registry.test/nixl:1.5 is not the same on all nodes (n0: sha256:bb; n1: sha256:aa): " +
				"name it by its digest"},
			map[string]string{"n0": asked + "@sha256:bb", "n1": asked + "@sha256:aa"},
		},
		"replaced": {
			[]string{item(asked, ""), item("registry.test/nixl@sha256:aa", "registry.test/nixl@sha256:aa")},
			[]string{
				"warning: n1 runs image registry.test/nixl@sha256:aa instead of registry.test/nixl:1.5: the cluster has replaced it",
				"image registry.test/nixl:1.5 is sha256:aa",
			},
			map[string]string{"n0": asked, "n1": "registry.test/nixl@sha256:aa"},
		},
		"no pods": {nil, nil, map[string]string{}},
	} {
		var pods []pod
		for i, text := range c.items {
			var it kube.Item
			if err := json.Unmarshal([]byte(text), &it); err != nil {
				t.Fatal(err)
			}
			p := judgeOne(&it)
			p.Node = fmt.Sprintf("n%d", i)
			pods = append(pods, p)
		}
		if d := cmp.Diff(c.want, imageNews(asked, pods)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(c.images, imagesOf(pods)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The image of the manifest is that of the agent, with the patches of the site.
func TestAskedImage(t *testing.T) {
	l := launcherOf(t, options(func(o *Options) {
		o.Image = "a.test/weir:1"
		o.Patches = patches(t, "spec: {containers: [{name: agent, image: \"b.test/weir:2\"}, {name: side, image: \"c:3\"}]}")
	}))
	r := request(t, 1)
	m, err := l.manifests(t.Context(), &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := askedImage(m.job); got != "b.test/weir:2" {
		t.Errorf("it is %q", got)
	}
	if got := askedImage(object{}); got != "" {
		t.Errorf("nothing names %q", got)
	}
}
