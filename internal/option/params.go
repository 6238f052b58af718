package option

import (
	"fmt"
	"strings"
)

// Param is one parameter of a backend.
type Param struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// ParseParams reads "key=value; key=value". A key consists of letters, digits and _ - . and occurs
// once; a value contains no semicolons, control characters and =.
func ParseParams(text string) ([]Param, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all []Param
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ";") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is not key=value", strings.TrimSpace(part))
		case !ParamKey(key):
			return nil, fmt.Errorf("%q is not a valid name of a parameter: use letters, digits, dots, - and _", key)
		case seen[key]:
			return nil, fmt.Errorf("%s is set twice", key)
		case strings.Contains(value, "="):
			return nil, fmt.Errorf("the value of %s contains =: separate parameters by semicolons", key)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("the value of %s contains a control character", key)
		}
		seen[key] = true
		all = append(all, Param{key, value})
	}
	return all, nil
}

// ParamKey reports whether a text is a valid name of a parameter.
func ParamKey(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r)) {
			return false
		}
	}
	return s != ""
}
