package incluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/workload"
)

type object = kube.Object

// Labels of a service's objects. Agents have other labels.
const (
	ofSession = "weir.dev/services-of"
	ofService = "weir.dev/service"
)

func textOf(o object, key string) string { text, _ := o[key].(string); return text }

func nameOf(o object) string { m, _ := o["metadata"].(object); return textOf(m, "name") }

func namespaceOf(o object) string { m, _ := o["metadata"].(object); return textOf(m, "namespace") }

// whatIs is KIND/NAME of an object.
func whatIs(o object) string { return textOf(o, "kind") + "/" + nameOf(o) }

// patchKey is the scenario key of patches, which have the kind and name of an object.
const patchKey = "patch"

// read parses manifests. A List stands for its items.
func read(texts []string, what string) (all []object, err error) {
	for _, text := range texts {
		documents, err := yamlsyntax.ReadData([]byte(text), what)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			if d == nil {
				continue
			}
			o, ok := d.(object)
			if !ok {
				return nil, fmt.Errorf("%s: a document is a list or a text, not an object of Kubernetes", what)
			}
			items, isList := o["items"].([]any)
			if !isList || !strings.HasSuffix(textOf(o, "kind"), "List") {
				items = []any{o}
			}
			for _, i := range items {
				o, ok := i.(object)
				if !ok || textOf(o, "kind") == "" || textOf(o, "apiVersion") == "" && what != patchKey {
					return nil, fmt.Errorf("%s: a document has no kind or no apiVersion", what)
				}
				all = append(all, o)
			}
		}
	}
	return all, nil
}

// objects are the objects of the manifests with all patches. value expands the names of a launch.
func objects(ctx context.Context, client *kube.Client, c *workload.InCluster,
	value func(string) (string, error)) ([]object, error) {
	all, err := read(c.Manifests, "apply")
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if nameOf(o) == "" {
			return nil, fmt.Errorf("apply: a %s has no metadata.name", textOf(o, "kind"))
		}
	}
	patches, err := read(c.Patches, patchKey)
	if err != nil {
		return nil, err
	}
	for _, p := range patches {
		if err := merge(ctx, client, all, p); err != nil {
			return nil, err
		}
	}
	if c.Change.Empty() {
		return all, nil
	}
	change, err := expanded(c.Change, value)
	if err != nil {
		return nil, err
	}
	return all, changeContainers(all, change)
}

// merge applies a patch to the object of its kind and name.
func merge(ctx context.Context, client *kube.Client, all []object, patch object) error {
	same := func(o object) bool {
		return textOf(o, "kind") == textOf(patch, "kind") && nameOf(o) == nameOf(patch) &&
			(namespaceOf(patch) == "" || namespaceOf(o) == namespaceOf(patch))
	}
	i := slices.IndexFunc(all, same)
	if i < 0 {
		var names []string
		for _, o := range all {
			names = append(names, whatIs(o))
		}
		return fmt.Errorf("patch: there is no %s in apply, which has %s", whatIs(patch), strings.Join(names, ", "))
	}
	changes := maps.Clone(patch)
	delete(changes, "apiVersion")
	delete(changes, "kind")
	var err error
	if all[i], err = client.Patch(ctx, all[i], changes); err != nil {
		return fmt.Errorf("patch of %s: %w", whatIs(patch), err)
	}
	return nil
}

func expanded(c workload.ContainerChange, value func(string) (string, error)) (workload.ContainerChange, error) {
	var errs []error
	expand := func(text string) string {
		out, err := placeholder.Expand(text, value)
		errs = append(errs, err)
		return out
	}
	out := workload.ContainerChange{Image: expand(c.Image), Containers: c.Containers}
	for _, v := range c.Env {
		out.Env = append(out.Env, workload.NamedText{Name: v.Name, Value: expand(v.Value)})
	}
	for _, a := range c.Args {
		out.Args = append(out.Args, expand(a))
	}
	return out, errors.Join(errs...)
}

// changeContainers changes the containers of all pod templates, at any depth of the objects: items of a list
// "containers", and a "mainContainer" (Dynamo).
func changeContainers(all []object, c workload.ContainerChange) error {
	found := map[string]bool{}
	changed := 0
	var err error
	change := func(container object, alone bool, where string) {
		name := textOf(container, "name")
		found[name] = true
		if len(c.Containers) > 0 && !slices.Contains(c.Containers, name) {
			return
		}
		if !alone && len(c.Containers) == 0 && (c.Image != "" || len(c.Args) > 0) {
			err = fmt.Errorf("patch: a pod of %s has several containers: select those for image and args with containers: [NAME]",
				where)
			return
		}
		changed++
		changeContainer(container, c)
	}
	for _, o := range all {
		eachContainer(o, func(container object, alone bool) { change(container, alone, whatIs(o)) })
	}
	for _, name := range c.Containers {
		if !found[name] {
			return fmt.Errorf("patch: no pod has a container %q; the containers are %s", name,
				strings.Join(slices.Sorted(maps.Keys(found)), ", "))
		}
	}
	if err == nil && changed == 0 {
		err = errors.New("patch: no object of apply has a container; use a patch with kind and metadata.name")
	}
	return err
}

func eachContainer(v any, do func(container object, alone bool)) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			eachContainer(inner, do)
		}
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list, isList := v[key].([]any)
			main, isMapping := v[key].(object)
			switch {
			case key == "containers" && isList:
				for _, item := range list {
					if container, ok := item.(object); ok {
						do(container, len(list) == 1)
					}
				}
			case key == "mainContainer" && isMapping:
				do(main, true)
			default:
				eachContainer(v[key], do)
			}
		}
	}
}

func changeContainer(container object, c workload.ContainerChange) {
	if c.Image != "" {
		container["image"] = c.Image
	}
	if len(c.Args) > 0 {
		var args []any
		for _, a := range c.Args {
			args = append(args, a)
		}
		container["args"] = args
	}
	env, _ := container["env"].([]any)
	env = slices.Clone(env)
	for _, v := range c.Env {
		set := object{"name": v.Name, "value": v.Value}
		i := slices.IndexFunc(env, func(e any) bool { o, ok := e.(object); return ok && o["name"] == v.Name })
		if i >= 0 {
			env[i] = set // without valueFrom
		} else {
			env = append(env, set)
		}
	}
	if len(env) > 0 {
		container["env"] = env
	}
}

// label adds labels to objects, and to the pod templates of Kubernetes' built-in kinds.
func label(all []object, session, service string) {
	for _, o := range all {
		mark(kube.Part(o, "metadata", "labels"), session, service)
		if spec, ok := o["spec"].(object); ok {
			if _, ok := spec["template"].(object); ok {
				mark(kube.Part(spec, "template", "metadata", "labels"), session, service)
			}
		}
	}
}

func mark(labels object, session, service string) {
	if labels != nil {
		labels[ofSession], labels[ofService] = session, service
	}
}

// own adds owner references to objects, except to cluster-scoped ones, which cannot have a namespaced owner.
func own(all []object, owners map[string]object) {
	for _, o := range all {
		if owner := owners[namespaceOf(o)]; owner != nil {
			m := kube.Part(o, "metadata")
			m["ownerReferences"] = append(listOf(m["ownerReferences"]), reference(owner))
		}
	}
}

func listOf(v any) []any { l, _ := v.([]any); return l }

func reference(owner object) object {
	return object{
		"apiVersion": "batch/v1", "kind": "Job", "name": nameOf(owner), "uid": kube.Part(owner, "metadata")["uid"],
	}
}
