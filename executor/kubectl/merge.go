package kubectl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Merge lays changes over an object in place, in the way of kubectl patch (strategic merge):
// mappings are merged, null removes, lists whose items have a key that Kubernetes merges them
// by are merged item by item, and other lists are replaced. "$patch: delete" in an item
// removes it, "$patch: replace" in a mapping replaces it.
func Merge(into, changes Object) error { return merge(into, changes, "") }

const directive = "$patch"

// mergeKeys are the fields by which Kubernetes merges the items of lists; its API's
// description has them as x-kubernetes-patch-merge-key. Ports are known by different
// ones in Services and containers.
var mergeKeys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "ephemeralContainers": {"name"},
	"env": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"}, "volumeDevices": {"devicePath"},
	"imagePullSecrets": {"name"}, "hostAliases": {"ip"}, "topologySpreadConstraints": {"topologyKey"},
	"ports": {"containerPort", "port"}, "resourceClaims": {"name"}, "schedulingGates": {"name"},
	"ownerReferences": {"uid"},
}

// merge lays changes over a mapping in place.
func merge(into, changes Object, path string) error {
	if changes[directive] == "replace" {
		clear(into)
	}
	for key, value := range changes {
		at := strings.TrimPrefix(path+"."+key, ".")
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case Object:
			old, ok := into[key].(Object)
			if !ok {
				if into[key] != nil {
					return fmt.Errorf("%s is no mapping", at)
				}
				old = Object{}
				into[key] = old
			}
			if err := merge(old, value, at); err != nil {
				return err
			}
		case []any:
			merged, err := mergeList(key, into[key], value, at)
			if err != nil {
				return err
			}
			into[key] = merged
		default:
			if key != directive {
				into[key] = value
			} else if value != "replace" {
				return fmt.Errorf("%s: must be replace here", at)
			}
		}
	}
	return nil
}

func mergeList(name string, old any, changes []any, path string) ([]any, error) {
	keys := mergeKeys[name]
	if keys == nil {
		return changes, nil
	}
	into, _ := old.([]any)
	out := slices.Clone(into)
	for i, change := range changes {
		at := fmt.Sprintf("%s[%d]", path, i)
		c, ok := change.(Object)
		if !ok {
			return nil, fmt.Errorf("%s must be a mapping", at)
		}
		k := slices.IndexFunc(keys, func(k string) bool { return c[k] != nil })
		if k < 0 {
			return nil, fmt.Errorf("%s needs its %s, by which Kubernetes merges %s", at, keys[0], name)
		}
		key := keys[k]
		same := slices.IndexFunc(out, func(o any) bool {
			have, _ := o.(Object)
			return reflect.DeepEqual(have[key], c[key])
		})
		switch {
		case c[directive] == "delete":
			if same < 0 {
				return nil, fmt.Errorf("%s: there is no %s %v to delete", at, key, c[key])
			}
			out = slices.Delete(out, same, same+1)
			continue
		case same < 0:
			fresh := Object{}
			out = append(out, fresh)
			same = len(out) - 1
		}
		if err := merge(out[same].(Object), c, at); err != nil {
			return nil, err
		}
	}
	return out, nil
}
