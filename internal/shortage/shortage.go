// Package shortage describes too few nodes of a cluster.
package shortage

import "fmt"

// maxNamed is the number of nodes that a message names.
const maxNamed = 8

// Nodes describes that too few of all nodes fit, with the reasons of the others.
func Nodes(need, fit, all int, refused []string) []string {
	lacks := []string{fmt.Sprintf("nodes that fit (needed: %d, there: %d of %d)", need, fit, all)}
	if len(refused) > maxNamed {
		refused = append(refused[:maxNamed:maxNamed], fmt.Sprintf("and %d further nodes", len(refused)-maxNamed))
	}
	return append(lacks, refused...)
}
