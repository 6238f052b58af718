package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// A transport that the fabric never uses is warned of before anything runs.
func TestImpossibleTransports(t *testing.T) {
	for asserted, want := range map[string]string{
		`transport startsWith "rc" where fabric == "tcp"`: "Data of fabric tcp is carried by tcp",
		`transport == "rc_mlx5"`:                          "Data of fabric tcp is carried by tcp",
		`transport in ["tcp", "rc_mlx5"]`:                 "Data of fabric shm is carried by shm",
		`transport != "shm"`:                              "Data of fabric shm is carried by shm",
		`"tcp" in transport where fabric == "shm"`:        "Data of fabric shm is carried by shm",
		`transport startsWith "rc" where fabric == "ucx"`: "",
		`transport in ["tcp", "shm", "rc_mlx5"]`:          "",
		`transport != "rc_mlx5"`:                          "",
		`transport == "tcp" where fabric == "tcp"`:        "",
	} {
		src := "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1MiB}\n" +
			"    sweep: {fabric: [tcp, shm, ucx]}\n    assert: ['" + asserted + "']\n"
		_, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
		if diags.HasErrors() || (len(diags) > 0) != (want != "") || !strings.Contains(render(diags), want) {
			t.Errorf("%s: %s, want %q", asserted, render(diags), want)
		}
	}
}
