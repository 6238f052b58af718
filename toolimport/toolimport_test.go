package toolimport_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/dsl"
	"weir/planner"
	"weir/toolimport"
)

// imported is the scenario of a command line, which loads and has a plan.
func imported(t *testing.T, tool, line string, o toolimport.Options) (string, []toolimport.Note) {
	t.Helper()
	lines, err := toolimport.Lines(tool, "", line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	o.Read, o.Glob = os.ReadFile, filepath.Glob
	made, err := toolimport.Import(tool, lines, o)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	planned(t, made.Scenario)
	return string(made.Scenario), made.Notes
}

func planned(t *testing.T, src []byte) *planner.Plan {
	t.Helper()
	s, _, diags := dsl.Load("scenario.yaml", src, dsl.Options{})
	if diags.HasErrors() {
		t.Fatalf("%s\n%v", src, diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		t.Fatalf("%s\n%v", src, diags)
	}
	return p
}

func TestX(t *testing.T) {
	for _, c := range []struct {
		tool, line string
		o          toolimport.Options
	}{
		{"nixlbench", "nixlbench", toolimport.Options{}},
		{"nixlbench", "FI_PROVIDER=efa nixlbench --backend LIBFABRIC --initiator_seg_type VRAM --target_seg_type VRAM --gds_batch_limit 3", toolimport.Options{Memory: "dram"}},
		{"nixlbench", "nixlbench --backend UCX --max_batch_size 4 --num_threads=2 --num_initiator_dev 2 --num_target_dev 2", toolimport.Options{}},
		{"nixlbench", "nixlbench --backend UCX --etcd_endpoints http://x:1 --num_iter 5", toolimport.Options{AsCommand: true}},
		{"ucx_perftest", "ucx_perftest 10.0.0.1 -t ucp_put_bw -s 65536 -n 1000 -fN -p 123", toolimport.Options{}},
		{"ucx_perftest", "ucx_perftest 10.0.0.1 -t tag_lat -s8 -n 1000 -fN -p 123", toolimport.Options{AsCommand: true}},
		{"perftest", "ib_write_bw -d mlx5_0 -x 3 -a -F host --report_gbits", toolimport.Options{}},
		{"perftest", "ib_write_bw -d mlx5_0 -x 3 -a -F host --report_gbits", toolimport.Options{AsCommand: true}},
		{"perftest", "ib_read_lat -d mlx5_0 host -D 5", toolimport.Options{}},
	} {
		out, notes := imported(t, c.tool, c.line, c.o)
		fmt.Println(strings.Repeat("=", 60), "\n"+c.line+"\n"+out, len(notes))
	}
}
