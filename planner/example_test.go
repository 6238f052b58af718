package planner_test

import (
	"fmt"
	"os"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
)

func ExampleBuild() {
	const text = `
scenario: example
runs:
  shm: {workload: transfer, options: {fabric: shm}, launches: 3, sweep: {block_size: [4KiB, 1MiB], ranks: [2, 4]}}
`
	s, sources, diags := dsl.Load("example.yaml", []byte(text), dsl.Options{})
	if s == nil {
		_ = dsl.WriteDiagnostics(os.Stderr, "text", diags, sources)
		return
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		_ = dsl.WriteDiagnostics(os.Stderr, "text", diags, sources)
		return
	}
	for _, g := range p.Groups {
		fmt.Println(g.ID, g.Cases)
	}
	fmt.Println(p.Cost.Launches.Max, "launches")
	// Output:
	// shm[ranks=2] [shm[block_size=4KiB,ranks=2] shm[block_size=1MiB,ranks=2]]
	// shm[ranks=4] [shm[block_size=4KiB,ranks=4] shm[block_size=1MiB,ranks=4]]
	// 6 launches
}
