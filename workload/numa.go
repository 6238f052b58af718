package workload

import (
	"fmt"
	"strconv"
)

// Placement is what option numa says of where buffers are: Default, Local or a node.
type Placement int

// The placements that are no number of a node.
const (
	Default Placement = -1
	Local   Placement = -2
)

// mostNodes is how many NUMA nodes Linux can have.
const mostNodes = 1024

func (p Placement) String() string {
	switch p {
	case Default:
		return "default"
	case Local:
		return "local"
	}
	return strconv.Itoa(int(p))
}

// ParseNUMA reads the value of option numa.
func ParseNUMA(text string) (Placement, error) {
	switch text {
	case "", "default":
		return Default, nil
	case "local":
		return Local, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= mostNodes {
		return Default, fmt.Errorf("%q is neither default nor local nor the number of a NUMA node, which is from 0 to %d",
			text, mostNodes-1)
	}
	return Placement(n), nil
}
