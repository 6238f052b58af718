package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// Patch changes one of the objects before it is created, as kubectl patch does.
type Patch struct {
	Kind    string // Job, Service or PodTemplate
	From    string // file, for errors
	Changes map[string]any
}

// maxPatch is the largest patch file, in bytes.
const maxPatch = 1 << 20

// ReadPatches reads the patches in a file. The kind of a patch is its own, or else PodTemplate.
func ReadPatches(text []byte, file string) ([]Patch, error) {
	if len(text) > maxPatch {
		return nil, fmt.Errorf("%s: the patch has %d bytes: 1 MiB is allowed", file, len(text))
	}
	documents, err := yamlsyntax.ReadData(text, file)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("%s: the file holds no patch", file)
	}
	var all []Patch
	for i, d := range documents {
		where := file
		if len(documents) > 1 {
			where = fmt.Sprintf("%s, document %d", file, i+1)
		}
		p, err := readPatch(d, where)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func readPatch(document any, from string) (Patch, error) {
	changes, ok := document.(object)
	if !ok {
		return Patch{}, fmt.Errorf("%s: a patch is a mapping such as `spec: {priorityClassName: high}`", from)
	}
	p := Patch{From: from, Kind: "PodTemplate", Changes: object{}}
	for key, value := range changes {
		switch key {
		case "apiVersion":
		case "kind":
			if p.Kind, ok = value.(string); !ok {
				return p, fmt.Errorf("%s: kind must be a name", from)
			}
		case "metadata", "spec":
			if _, ok := value.(object); !ok {
				return p, fmt.Errorf("%s: %s must be a mapping", from, key)
			}
			p.Changes[key] = value
		default:
			return p, fmt.Errorf("%s: a patch has no %q: it has metadata, spec, and kind where it is not for the pods",
				from, key)
		}
	}
	if !slices.Contains([]string{"Job", "Service", "PodTemplate"}, p.Kind) {
		return p, fmt.Errorf("%s: weir makes no %s that could be patched: kind must be Job, Service or PodTemplate",
			from, p.Kind)
	}
	return p, nil
}

func (p *Patch) apply(ctx context.Context, client *kube.Client, m *manifests) error {
	target, changes := &m.job, p.Changes
	switch p.Kind {
	case "Service":
		target = &m.service
	case "PodTemplate":
		changes = object{"spec": object{"template": p.Changes}}
	}
	patched, err := client.Patch(ctx, *target, changes)
	if err != nil {
		return fmt.Errorf("%s: %w", p.From, err)
	}
	*target = patched
	return nil
}

// intact refuses patches that remove what weir needs to start and find agents.
func (l *Launcher) intact(m *manifests, r *launcher.Request) error {
	spec := kube.Part(m.job, "spec")
	for _, field := range []string{"completions", "parallelism"} {
		if spec[field] != r.Nodes {
			return fmt.Errorf("a patch makes %s %v, and the session needs %d nodes", field, spec[field], r.Nodes)
		}
	}
	template := kube.Part(spec, "template")
	for _, o := range []object{m.job, m.service, template} {
		if kube.Part(o, "metadata", "labels")[mark] != Name(r.Session) {
			return fmt.Errorf("a patch takes away the label %s, by which weir finds what it has made", mark)
		}
	}
	has := func(list, name string) bool {
		all, _ := kube.Part(template, "spec")[list].([]any)
		return slices.ContainsFunc(all, func(v any) bool { o, _ := v.(object); return o["name"] == name })
	}
	switch {
	case kube.Part(m.job, "metadata")["name"] != Name(r.Session),
		kube.Part(m.service, "metadata")["name"] != Name(r.Session):
		return fmt.Errorf("a patch renames what weir makes, which must be called %s", Name(r.Session))
	case spec["completionMode"] != "Indexed":
		return fmt.Errorf("a patch makes completionMode %v, and agents get their names from Indexed",
			spec["completionMode"])
	case !has("containers", agent):
		return fmt.Errorf("a patch takes away the container %q, which is weir's", agent)
	case l.NeedsCopy() && !has("volumes", programVolume):
		return fmt.Errorf("a patch takes away the volume %q, into which weir is copied", programVolume)
	case !has("volumes", "bootstrap"):
		return errors.New("a patch takes away the volume \"bootstrap\", which agents read first")
	}
	return nil
}
