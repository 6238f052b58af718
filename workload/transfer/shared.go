package transfer

import "weir/workload"

// Option is an option of this workload for another one.
func Option(name string) workload.Option {
	o, ok := Kind.Option(name)
	if !ok {
		panic("workload transfer has no option " + name)
	}
	return o
}
