package transfer

import (
	"github.com/weir-bench/weir/internal/option"
)

// Option returns an option of this workload for use in another one.
func Option(name string) option.Option {
	o, ok := Kind.Option(name)
	if !ok {
		panic("workload transfer has no option " + name)
	}
	return o
}
