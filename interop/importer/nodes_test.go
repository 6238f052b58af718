package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/planner"
)

// placed describes where the cases of command lines go.
func placed(t *testing.T, tool, lines string, o importer.Options) string {
	t.Helper()
	found, err := importer.Lines(tool, "bench.sh", lines)
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	made, err := importer.Import(tool, found, o)
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	p := planned(t, made.Scenario)
	text := p.Cluster.String()
	run := ""
	for _, c := range p.Cases {
		if c.Run != run {
			run = c.Run
			text += fmt.Sprintf("; %v, %v ranks", c.Place, c.Options["ranks"])
		}
	}
	return text
}

// The scenario has the nodes of command lines, their variables and their launchers, and the lines
// of the processes of one benchmark become one run.
func TestImportsKeepNodes(t *testing.T) {
	const two = "2 nodes on distinct hosts"
	dram, command := importer.Options{Memory: "dram"}, importer.Options{AsCommand: true}
	env := func(rank int) string {
		return fmt.Sprintf("WORLD_SIZE=2 RANK=%d MASTER_ADDR=n0 ", rank) +
			"python3 -u test_control_plane.py --num-processes=4 --test=connect\n"
	}
	for _, c := range []struct {
		tool, lines string
		o           importer.Options
		want        string
	}{
		{"nixl-ep", env(0), dram, two + "; " + two + ", 4 ranks each, 8 ranks"},
		{"nixl-ep", env(1) + env(0), dram, two + "; " + two + ", 4 ranks each, 8 ranks"},
		{"nixl-ep", env(0) + env(1) + env(0) + env(1), dram,
			two + "; " + two + ", 4 ranks each, 8 ranks; " + two + ", 4 ranks each, 8 ranks"},
		{"nixl-ep", "python3 test_data_plane.py --num-processes 2 --world-size=2 --rank=1 --master-addr=n0\n" +
			"python3 test_data_plane.py --num-processes 2 --mode dispatch", dram,
			"1 node; " + two + ", 2 ranks each, 4 ranks; 1 node, 2 ranks"},
		{"nixl-ep", "srun -N 3 --ntasks-per-node=1 python3 test_data_plane.py --num-processes=2", dram,
			"3 nodes on distinct hosts; 3 nodes on distinct hosts, 2 ranks each, 6 ranks"},
		{"nixl-ep", "torchrun --nnodes=2 --nproc-per-node 1 test_data_plane.py --num-processes=2", dram,
			two + "; " + two + ", 2 ranks each, 4 ranks"},
		{"nixl-ep", "python3.11 test_data_plane.py --num-processes=2", dram, "1 node; 1 node, 2 ranks"},
		{"nixlbench", "nixlbench --backend UCX --etcd_endpoints http://e:1\nnixlbench --backend UCX --etcd_endpoints http://e:1",
			importer.Options{}, two + "; " + two + ", 2 ranks"},
		{"nixlbench", "nixlbench\nnixlbench\nnixlbench --op_type READ\nnixlbench --op_type READ", importer.Options{},
			two + "; " + two + ", 2 ranks; " + two + ", 2 ranks"},
		{"nixlbench", "srun -N1 -n2 nixlbench", command, "1 node; 1 node, <nil> ranks"},
		{"nixlbench", "mpirun -np 2 -H a,b nixlbench", command, two + "; " + two + ", <nil> ranks"},
		{"nixlbench", "nixlbench --runtime_type ASIO", command, "1 node; 1 node, <nil> ranks"},
		{"nixlbench", "nixlbench --runtime_type ASIO --asio_address 10.0.0.1", command,
			two + "; " + two + ", <nil> ranks"},
		{"nixlbench", "nixlbench --backend POSIX", command, "1 node; 1 node, <nil> ranks"},
		{"perftest", "ib_write_bw\nib_write_bw host1", command, two + "; " + two + ", <nil> ranks"},
		{"ucx_perftest", "ucx_perftest 127.0.0.1 -t tag_bw", command, "1 node; 1 node, <nil> ranks"},
		{"ucx_perftest", "ucx_perftest localhost -t tag_bw", importer.Options{}, "1 node; 1 node, 2 ranks"},
		{"ucx_perftest", "mpirun -np 2 --map-by ppr:1:node ucx_perftest -t tag_bw", importer.Options{},
			two + "; " + two + ", 2 ranks"},
	} {
		if got := placed(t, c.tool, c.lines, c.o); got != c.want {
			t.Errorf("%s\nis on %s\nwant  %s", c.lines, got, c.want)
		}
	}
}

// Lines of pods that differ in devices and variables become the roles of one run.
func TestLinesOfBothSidesAreRoles(t *testing.T) {
	lines, err := importer.Lines("nixlbench", "pods.sh", `kubectl exec pod-1 -- env FI_PROVIDER=efa FI_EFA_IFACE=rdma0 nixlbench --backend UCX --device_list mlx5_0 &
kubectl exec pod-2 -- env FI_PROVIDER=efa FI_EFA_IFACE=rdma1 nixlbench --backend UCX --device_list mlx5_1
`)
	if err != nil {
		t.Fatal(err)
	}
	made, err := importer.Import("nixlbench", lines, importer.Options{AsCommand: true})
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, made.Scenario)
	roles := fmt.Sprint(p.Cases[0].Options["roles"])
	initiator, target, ok := strings.Cut(roles, `"target"`)
	if runsOf(p) != 1 || !ok || p.Cases[0].Env["FI_PROVIDER"] != "efa" || p.Cases[0].Env["FI_EFA_IFACE"] != "" ||
		!strings.Contains(initiator, "mlx5_0") || !strings.Contains(initiator, "rdma0") ||
		!strings.Contains(target, "mlx5_1") || !strings.Contains(target, "rdma1") {
		t.Errorf("%d runs\n%s", runsOf(p), made.Scenario)
	}
	made, err = importer.Import("nixlbench", lines, importer.Options{})
	if err != nil || !strings.Contains(fmt.Sprint(made.Notes), "mlx5_1") {
		t.Errorf("what one pod alone has is not told: %v, %v", made, err)
	}
}

func runsOf(p *planner.Plan) int { return len(p.Runs) }

// The three backends of NIXL EP's tests are three experiments.
func TestBackendsOfNIXLEP(t *testing.T) {
	const rdma = `transport in ["rc_mlx5", "dc_mlx5"]`
	for _, c := range []struct {
		line           string
		o              importer.Options
		fabric, memory string
		assert         string
	}{
		{"test_data_plane.py", importer.Options{}, "cuda", "vram", ""},
		{"test_data_plane.py --nvlink-backend ipc", importer.Options{}, "cuda", "vram", ""},
		{"test_data_plane.py --nvlink-backend ipc", importer.Options{Memory: "dram"}, "auto", "dram", ""},
		{"test_data_plane.py --nvlink-backend nixl", importer.Options{}, "nixl", "vram", ""},
		{"test_data_plane.py --nvlink-backend none", importer.Options{}, "ucx", "vram",
			`transport in ["rc_mlx5", "rc_verbs", "dc_mlx5", "ud_mlx5", "ud_verbs"]`},
		{"UCX_TLS=rc_mlx5,dc_mlx5,tcp python3 test_data_plane.py --nvlink-backend none", importer.Options{},
			"ucx", "vram", rdma},
		{"UCX_TLS=rc_x,dc_x test_data_plane.py --disable-ll-nvlink", importer.Options{}, "ucx", "vram", rdma},
		{"UCX_TLS=tcp test_data_plane.py --nvlink-backend none", importer.Options{}, "ucx", "vram", ""},
		{"test_control_plane.py --nvlink-backend none", importer.Options{}, "ucx", "vram", "transport in"},
		{"test_control_plane.py --nvlink-backend nixl", importer.Options{}, "nixl", "vram", ""},
	} {
		text, _ := imported(t, "nixl-ep", c.line, c.o)
		o := planned(t, []byte(text)).Cases[0].Options
		if o["fabric"] != c.fabric || o["memory"] != c.memory || !strings.Contains(text, c.assert) ||
			c.assert == "" && strings.Contains(text, "assert:") {
			t.Errorf("%s has fabric %v and memory %v\n%s", c.line, o["fabric"], o["memory"], text)
		}
	}
}
