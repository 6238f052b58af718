package dsl_test

import (
	"fmt"
	"os"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
)

func ExampleLoad() {
	const text = `
scenario: example
runs:
  shm:
    workload: transfer
    options: {fabric: shm}
    sweep: {block_size: [4KiB, 1MiB]}
    assert: [bandwidth >= 1 GB/s where block_size == 1MiB]
`
	s, sources, diags := dsl.Load("example.yaml", []byte(text), dsl.Options{})
	if diags.HasErrors() {
		_ = dsl.WriteDiagnostics(os.Stderr, "text", diags, sources)
		return
	}
	fmt.Println(s.Name, s.Runs[0].Name, s.Runs[0].Asserts[0].Text)

	p, diags := planner.Build(s)
	if diags.HasErrors() {
		_ = dsl.WriteDiagnostics(os.Stderr, "text", diags, sources)
		return
	}
	for _, c := range p.Cases {
		fmt.Println(c.Key, len(c.Assertions))
	}
	// Output:
	// example shm bandwidth >= 1 GB/s where block_size == 1MiB
	// shm[block_size=4KiB] 0
	// shm[block_size=1MiB] 1
}
