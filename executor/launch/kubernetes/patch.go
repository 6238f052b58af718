package kubernetes

import (
	"errors"
	"fmt"
	"slices"

	"weir/dsl/yamlsyntax"
	"weir/executor/kubectl"
	"weir/executor/launch"
)

// Patch changes one of the objects before it is created, in the way of kubectl patch
// (strategic merge): mappings are merged, null removes, lists whose items have a key
// that Kubernetes merges them by are merged item by item, and other lists are replaced.
// "$patch: delete" in an item removes it, "$patch: replace" in a mapping replaces it.
type Patch struct {
	Kind    string // Job, Service or PodTemplate
	From    string // file, for errors
	Changes map[string]any
}

// maxPatch is more than a manifest may have in a cluster's own store.
const maxPatch = 1 << 20

// ReadPatches reads the documents of a file. One with a kind is laid over that object;
// one without is a pod template, or the spec of one.
func ReadPatches(text []byte, file string) ([]Patch, error) {
	if len(text) > maxPatch {
		return nil, fmt.Errorf("%s: %d bytes are no patch: 1 MiB is the most", file, len(text))
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

func (p *Patch) apply(m *manifests) error {
	target := m.job
	switch p.Kind {
	case "Service":
		target = m.service
	case "PodTemplate":
		if target = part(m.job, "spec", "template"); target == nil {
			return fmt.Errorf("%s: a patch before this one has taken the pod template away", p.From)
		}
	}
	if err := kubectl.Merge(target, p.Changes); err != nil {
		return fmt.Errorf("%s: %w", p.From, err)
	}
	return nil
}

// intact says what a patch has taken away that agents could not be started or found
// without.
func (l *Launcher) intact(m *manifests, r *launch.Request) error {
	spec := part(m.job, "spec")
	for _, field := range []string{"completions", "parallelism"} {
		if spec[field] != r.Nodes {
			return fmt.Errorf("a patch makes %s %v, and the session needs %d nodes", field, spec[field], r.Nodes)
		}
	}
	template := part(spec, "template")
	for _, o := range []object{m.job, m.service, template} {
		if part(o, "metadata", "labels")[mark] != Name(r.Session) {
			return fmt.Errorf("a patch takes away the label %s, by which weir finds what it has made", mark)
		}
	}
	has := func(list, name string) bool {
		all, _ := part(template, "spec")[list].([]any)
		return slices.ContainsFunc(all, func(v any) bool { o, _ := v.(object); return o["name"] == name })
	}
	switch {
	case part(m.job, "metadata")["name"] != Name(r.Session) || part(m.service, "metadata")["name"] != Name(r.Session):
		return fmt.Errorf("a patch renames what weir makes, which must be called %s", Name(r.Session))
	case spec["completionMode"] != "Indexed":
		return fmt.Errorf("a patch makes completionMode %v, and agents get their names from Indexed",
			spec["completionMode"])
	case !has("containers", agent):
		return fmt.Errorf("a patch takes away the container %q, which is weir's", agent)
	case l.copies() && !has("volumes", programVolume):
		return fmt.Errorf("a patch takes away the volume %q, into which weir is copied", programVolume)
	case !has("volumes", "bootstrap"):
		return errors.New("a patch takes away the volume \"bootstrap\", which agents read first")
	}
	return nil
}

// part is a mapping inside of another; nil if there is none.
func part(o object, path ...string) object {
	for _, key := range path {
		o, _ = o[key].(object)
	}
	return o
}
