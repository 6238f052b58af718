package main

import (
	"fmt"
	"os"
	"slices"

	"weir/workload"
)

// argvs start this same program as another kind of process.
type argvs struct{ rank, probe []string }

func processes() (argvs, error) {
	self, err := os.Executable()
	if err != nil {
		return argvs{}, fmt.Errorf("finding weir's own program file: %w", err)
	}
	return argvs{rank: []string{self, "rank"}, probe: []string{self, "probe", "--internal"}}, nil
}

// fabricNames are the fabrics that a host may have.
func fabricNames() []string {
	o, ok := workload.Transfer.Option("fabric")
	if !ok {
		panic("workload transfer has no option fabric")
	}
	return slices.DeleteFunc(slices.Clone(o.Values), func(f string) bool { return f == "auto" || f == workload.SimFabric })
}
