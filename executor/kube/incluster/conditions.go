package incluster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/executor/kube"
)

// met reports whether an object meets a condition, and else its present state.
func met(o object, is string) (bool, string) {
	name, want, given := strings.Cut(is, "=")
	if strings.Contains(name, ".") {
		have, ok := field(o, strings.Split(name, "."))
		switch {
		case !ok:
			return false, name + " does not exist"
		case have != want:
			return false, fmt.Sprintf("%s is %s", name, have)
		}
		return true, ""
	}
	if !given {
		want = "True"
	}
	status, _ := o["status"].(object)
	for _, c := range listOf(status["conditions"]) {
		c, ok := c.(object)
		if !ok || !strings.EqualFold(textOf(c, "type"), name) {
			continue
		}
		if strings.EqualFold(textOf(c, "status"), want) {
			return current(o, c, status)
		}
		return false, kube.Sentence(fmt.Sprintf("%s is %s", name, textOf(c, "status")),
			kube.Sentence(textOf(c, "reason"), textOf(c, "message")))
	}
	return false, "it has no condition " + name + " yet"
}

// current reports whether a condition is about the present generation of the object.
func current(o, c, status object) (bool, string) {
	meta, _ := o["metadata"].(object)
	generation, known := meta["generation"].(float64)
	for _, of := range []object{c, status} {
		if seen, ok := of["observedGeneration"].(float64); ok && known && seen < generation {
			return false, "its controller has not seen it yet"
		}
	}
	return true, ""
}

// field is the text of a field of an object. A number in the path is an index of a list.
func field(v any, path []string) (string, bool) {
	for _, key := range path {
		switch at := v.(type) {
		case object:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return "", false
			}
			v = at[i]
		default:
			return "", false
		}
	}
	switch v := v.(type) {
	case string:
		return v, true
	case nil, object, []any:
		return "", false
	default:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
}
