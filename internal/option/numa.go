package option

import (
	"fmt"
	"strconv"

	"github.com/weir-bench/weir/internal/structure"
)

// Placement is the value of option numa for buffers: Default, Local or the number of a node.
type Placement int

// The placements other than the number of a node.
const (
	Default Placement = -1
	Local   Placement = -2
)

// mostNodes is the maximum number of NUMA nodes of Linux.
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
		return Default, fmt.Errorf("%q is not default, local or the number of a NUMA node from 0 to %d",
			text, mostNodes-1)
	}
	return Placement(n), nil
}

// ReadValue reads the number of a node.
func (p *Placement) ReadValue(d *structure.Decoder, v *structure.Value) {
	text := d.Text(v, false)
	var err error
	if *p, err = ParseNUMA(text); err != nil || *p < 0 {
		d.Fail("%q is not the number of a NUMA node", text)
	}
}

// WriteValue writes the number of the node.
func (p Placement) WriteValue(structure.Codec) *structure.Value {
	return &structure.Value{Text: p.String()}
}
