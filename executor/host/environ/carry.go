package environ

import (
	"fmt"
	"strings"
)

// MostCarried is the largest total size of the carried variables of a shell, in bytes.
const MostCarried = 32 << 10

// Carried are the variables of a shell that are copied to all hosts of a session.
func Carried(shell []string) (map[string]string, error) {
	carried, size := map[string]string{}, 0
	for _, pair := range shell {
		name, value, _ := strings.Cut(pair, "=")
		if Tuning(name) {
			carried[name] = value
			size += len(pair)
		}
	}
	if size > MostCarried {
		return nil, fmt.Errorf("the library variables in the environment have %d bytes, of at most %d: unset some",
			size, MostCarried)
	}
	return carried, nil
}

// OfNode are the library variables of a node's own environment that the shell does not replace.
func OfNode(own []string, shell map[string]string) map[string]string {
	var left map[string]string
	for _, v := range (Layers{Own: own, Shell: shell}).Compose().Record {
		if _, carried := shell[v.Name]; carried {
			continue
		}
		if left == nil {
			left = map[string]string{}
		}
		left[v.Name] = v.Value
	}
	return left
}
