package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/docs"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/test/golden"
)

// imported returns the scenario of a command line, which loads and has a plan.
func imported(t *testing.T, tool, line string, o importer.Options) (string, []importer.Note) {
	t.Helper()
	lines, err := importer.Lines(tool, "", line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	o.Read, o.Glob = os.ReadFile, filepath.Glob
	made, err := importer.Import(tool, lines, o)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	planned(t, made.Scenario)
	return string(made.Scenario), made.Notes
}

// scenarioOf imports a script. Its scenario can be planned, and has some texts.
func scenarioOf(t *testing.T, script string, o importer.Options, texts []string) *importer.Imported {
	t.Helper()
	made, err := importer.Script("x.sh", script+"\n", o)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	planned(t, made.Scenario)
	for _, text := range texts {
		if !strings.Contains(string(made.Scenario), text) {
			t.Errorf("%s has no %q:\n%s", script, text, made.Scenario)
		}
	}
	return made
}

func planned(t *testing.T, src []byte) *planner.Plan {
	t.Helper()
	values := map[string]string{} // of variables without one
	for _, name := range []string{"model", "url", "host", "port", "target"} {
		if strings.Contains(string(src), "\n  "+name+": {type: string}\n") {
			values[name] = "http://" + name
		}
	}
	for _, name := range []string{"requests", "concurrency"} {
		if strings.Contains(string(src), "\n  "+name+": {type: number}\n") {
			values[name] = "7"
		}
	}
	s, _, diags := dsl.Load("scenario.yaml", src, dsl.Options{Vars: values})
	if diags.HasErrors() {
		t.Fatalf("%s\n%v", src, diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		t.Fatalf("%s\n%v", src, diags)
	}
	return p
}

// The scenarios of command lines, with their comments, equal the golden files, and each has a plan.
func TestScenarios(t *testing.T) {
	for name, c := range map[string]struct {
		tool, line string
		o          importer.Options
	}{
		"nixlbench": {"nixlbench", "nixlbench", importer.Options{}},
		"nixlbench-vmm": {"nixlbench", "nixlbench --enable_vmm --initiator_seg_type VRAM --target_seg_type=VRAM\nnixlbench --enable_vmm",
			importer.Options{}},
		"nixlbench-vram": {"nixlbench", "FI_PROVIDER=efa nixlbench --backend LIBFABRIC --initiator_seg_type VRAM --target_seg_type VRAM --gds_batch_limit 3",
			importer.Options{Memory: "dram"}},
		"nixlbench-devices": {"nixlbench", "nixlbench --backend UCX --max_batch_size 4 --num_threads=2 --num_initiator_dev 2 --num_target_dev 2",
			importer.Options{}},
		"nixlbench-read": {"nixlbench", "nixlbench --backend UCX --op_type READ --start_block_size 65536 --max_block_size 65536 --check_consistency",
			importer.Options{}},
		"nixlbench-command": {"nixlbench", "nixlbench --backend UCX --etcd_endpoints http://x:1 --num_iter 5",
			importer.Options{AsCommand: true}},
		"nixlbench-command-batches": {"nixlbench", "nixlbench --backend UCX --max_batch_size 4 --max_block_size 8192",
			importer.Options{AsCommand: true}},
		"nixlbench-command-storage": {"nixlbench", "nixlbench --backend POSIX --etcd_endpoints http://e:1 --filepath /tmp --max_block_size=4096",
			importer.Options{AsCommand: true}},
		"ucx_perftest": {"ucx_perftest", "ucx_perftest 10.0.0.1 -t ucp_put_bw -s 65536 -n 1000 -fN -p 123",
			importer.Options{}},
		"ucx_perftest-command": {"ucx_perftest", "UCX_TLS=rc ucx_perftest 10.0.0.1 -t tag_lat -s8 -n 1000 -fN -p 123",
			importer.Options{AsCommand: true}},

		"perftest": {"perftest", "ib_write_bw -d mlx5_0 -x 3 -a -F host --report_gbits", importer.Options{}},
		"perftest-command": {"perftest", "ib_write_bw -d mlx5_0 -x 3 -a -F host --report_gbits",
			importer.Options{AsCommand: true}},
		"perftest-read": {"perftest", "ib_read_lat -d mlx5_0 host -D 5", importer.Options{}},
		"nixl-ep-control": {"nixl-ep", "python3 test_control_plane.py --num-processes=4 --experts-per-rank=8,32 --rounds 5 --use-tcp-store",
			importer.Options{}},
		"nixl-ep-control-nodes": {"nixl-ep", "WORLD_SIZE=2 RANK=0 MASTER_ADDR=node0 UCX_TLS=tcp python3 test_control_plane.py " +
			"--num-processes=8 --test=connect --warmup 1 --num-tokens 128 --hidden 7168 --discover-nics --timeout 60\n" +
			"WORLD_SIZE=2 RANK=1 MASTER_ADDR=node0 UCX_TLS=tcp python3 test_control_plane.py --num-processes=8 --test=connect",
			importer.Options{}},
		"nixl-ep-elastic": {"nixl-ep", "python3 tests/elastic/elastic.py --plan testdata/plan.json --num-processes 4 --num-tokens 256 " +
			"--num-experts-per-rank=32 --hidden-dim 7168 --num-topk 8 --tcp-server master --kineto --disable-ll-nvlink " +
			"--timeout-ms 10000 --validate-phase-failures", importer.Options{}},
		"nixl-ep": {"nixl-ep", "UCX_TLS=rc_mlx5,dc_mlx5,tcp UCX_IB_AR_ENABLE=no python3 test_data_plane.py --num-processes=4 --world-size 2 --mode=dispatch --tokens 128 --hidden=7168 --topk 8 --experts-per-rank 36 --nvlink-backend none",
			importer.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := imported(t, c.tool, c.line, c.o)
			golden.Equal(t, filepath.Join("testdata", name+".yaml"), []byte(got))
		})
	}
}

func TestDocs(t *testing.T) {
	golden.Equal(t, "../../docs/import.md", []byte(docs.Fill(importer.Markdown(), 100)))
}

// A flag that cannot be mapped is an error with a hint.
func TestLinesThatCannotBeImported(t *testing.T) {
	files := importer.Options{Read: os.ReadFile}
	for _, c := range []struct {
		tool, line, want string
		o                importer.Options
	}{
		{"nixlbench", "nixlbench --op_tipe READ", "Did you mean \"--op_type\"?", importer.Options{}},
		{"nixlbench", "nixlbench --num_iter x", "not a whole number", importer.Options{}},
		{"nixlbench", "nixlbench --max_block_size $SIZE", "does not know what the shell", importer.Options{}},
		{"nixlbench", "nixlbench --xyzzy 1", "`weir docs import nixlbench` lists all", importer.Options{}},
		{"nixlbench", "ls -l", "not with nixlbench", importer.Options{}},
		{"nixlbench", "nixlbench 'x", "line 1, column", importer.Options{}},
		{"ucx_perftest", "ucx_perftest -t tag_bw", "command line of the server", importer.Options{}},
		{"ucx_perftest", "ucx_perftest host -t stream_bw", "no streams", importer.Options{}},
		{"ucx_perftest", "ucx_perftest host -t tag_bw -l", "--skip-unmapped ignores them", importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py --num-processes 1", "below the least ranks", importer.Options{}},
		{"nixl-ep", "python3 test_control_plane.py --experts-per-rank 8,x", "not a list of numbers",
			importer.Options{}},
		{"nixl-ep", "WORLD_SIZE=x python3 test_control_plane.py", "--world-size", importer.Options{}},
		{"nixl-ep", "WORLD_SIZE=x python3 test_data_plane.py", `of variable WORLD_SIZE: "x" is not a whole number`,
			importer.Options{}},
		{"nixl-ep", "WORLD_SIZE=0 python3 test_data_plane.py", "--world-size: 0 is not from 1", importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py --num-processes=0", "--num-processes: 0 is not from 1",
			importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py --world-size=2 --rank=5", "from 0 to 1", importer.Options{}},
		{"nixl-ep", "RANK=1 python3 test_data_plane.py", "from 0 to 0, since --world-size is 1", importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py --nvlink-backend=foo", `"foo" is none of ipc, nixl, none`,
			importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py --num-processes=99999999999999999999", "not a whole number",
			importer.Options{}},
		{"nixlbench", "nixlbench --runtime_type MPI", `"MPI" is none of ETCD, ASIO`, importer.Options{}},
		{"nixl-ep", "python3 elastic.py", "--plan is missing", importer.Options{}},
		{"nixl-ep", "python3 elastic.py --plan testdata/plan.json", "is not read here", importer.Options{}},
		{"nixl-ep", "python3 elastic.py --plan testdata/absent.json", "absent.json", files},
		{"nixl-ep", "python3 elastic.py --plan testdata/nixl-ep.yaml", "JSON list of phases", files},
		{"nixl-ep", "python3 elastic.py --plan testdata/plan.json --timeout-ms 0", "is not from 1 to", files},
		{"nixl-ep", "python3 elastic.py --plan testdata/plan.json --topk 8", "topk", files},
		{"nixl-ep", "python3 test_control_plane.py --mode e2e", "mode", importer.Options{}},
		{"nixl-ep", "python3 test_data_plane.py", "no --as-command", importer.Options{AsCommand: true}},
		{"nixlbonk", "x", "Did you mean \"nixlbench\"?", importer.Options{}},
	} {
		lines, err := importer.Lines(c.tool, "", c.line)
		if err == nil {
			_, err = importer.Import(c.tool, lines, c.o)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.line, err, c.want)
		}
	}
	lines, err := importer.Lines("ucx_perftest", "", "ucx_perftest host -t tag_bw -l")
	if err == nil {
		_, err = importer.Import("ucx_perftest", lines, importer.Options{SkipUnmapped: true})
	}
	if err != nil {
		t.Errorf("with --skip-unmapped: %v", err)
	}
}

// Each call in a shell script becomes a run, with the variables exported before it.
func TestScripts(t *testing.T) {
	script := `#!/bin/bash
export UCX_TLS=rc
ucx_perftest -t tag_bw &
sleep 10
ucx_perftest 10.0.0.1 -t tag_bw -s 4096
UCX_TLS=tcp ucx_perftest 10.0.0.1 -t tag_lat -s 8
`
	lines, err := importer.Lines("ucx_perftest", "bench.sh", script)
	if err != nil {
		t.Fatal(err)
	}
	made, err := importer.Import("ucx_perftest", lines, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, made.Scenario)
	if len(p.Cases) != 2 || p.Cases[0].Env["UCX_TLS"] != "rc" || p.Cases[1].Env["UCX_TLS"] != "tcp" ||
		p.Cases[1].Options["mode"] != "pingpong" {
		t.Errorf("%s", made.Scenario)
	}
}

// The configuration files of nixlbench have the same effect as its flags.
func TestConfig(t *testing.T) {
	lines, err := importer.Config("nixlbench.toml", []byte("backend = \"UCX\"\nop_type = \"READ\"\nnum_iter = 64\n"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := importer.Import("nixlbench", lines, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := planned(t, made.Scenario); p.Cases[0].Options["op"] != "read" {
		t.Errorf("%s", made.Scenario)
	}
}

// The values that kvbench derives from a model: block sizes and batches, as kvbench printed them
// for FP8, pages of 16 tokens, 1000 tokens and 10 requests.
func TestKVBench(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	llama := "model_name: llama3.1\nnum_layers: %d\nnum_query_heads_with_mha: %d\ngqa_num_queries_in_group: %d\nquery_head_dimension: 128\n"
	grouped := "model_name: %s\nnum_layers: %d\nnum_kv_heads: %d\nquery_head_dimension: %d\n"
	for name, c := range map[string]struct {
		model string
		want  [4][2]int64 // block size and batch of block-tp1-pp1, layer-tp1-pp1, block-tp8-pp2 and layer-tp8-pp2
	}{
		"deepseek_r1": {"model_name: deepseek_r1\nnum_layers: 61\nrope_mla_dimension: 64\nmla_latent_vector_dimension: 512\n",
			[4][2]int64{{562176, 625}, {9216, 38125}, {35712, 9839}, {1152, 305000}}},
		"gpt_oss_120b": {fmt.Sprintf(grouped, "gpt_oss", 36, 8, 64), [4][2]int64{
			{589824, 625}, {16384, 22500}, {36864, 10000}, {2048, 180000},
		}},
		"gpt_oss_20b": {fmt.Sprintf(grouped, "gpt_oss", 24, 8, 64), [4][2]int64{
			{393216, 625}, {16384, 15000}, {24576, 10000}, {2048, 120000},
		}},
		"llama_3_1_70b": {fmt.Sprintf(llama, 80, 64, 8), [4][2]int64{
			{2621440, 625}, {32768, 50000}, {163840, 10000}, {4096, 400000},
		}},
		"llama_3_1_8b": {fmt.Sprintf(llama, 32, 32, 4), [4][2]int64{
			{1048576, 625}, {32768, 20000}, {65536, 10000}, {4096, 160000},
		}},
		"qwen3_235b_a22b": {fmt.Sprintf(grouped, "qwen3", 94, 4, 128), [4][2]int64{
			{1540096, 625}, {16384, 58750}, {96256, 10000}, {2048, 470000},
		}},
		"qwen3_8b": {fmt.Sprintf(grouped, "qwen3", 36, 8, 128), [4][2]int64{
			{1179648, 625}, {32768, 22500}, {73728, 10000}, {4096, 180000},
		}},
	} {
		model := write(name+".yaml", c.model)
		for i, strategy := range []string{"block 1 1", "layer 1 1", "block 8 2", "layer 8 2"} {
			var access string
			var tp, pp int
			if _, err := fmt.Sscan(strategy, &access, &tp, &pp); err != nil {
				t.Fatal(err)
			}
			config := write("config.yaml", fmt.Sprintf("strategy: {tp_size: %d, pp_size: %d, model_quant_mode: fp8, kvcache_quant_mode: fp8}\n"+
				"runtime: {isl: 1000, num_requests: 10}\nsystem: {page_size: 16, access_pattern: %s}\n", tp, pp,
				access))
			text, _ := imported(t, "kvbench", "kvbench plan --model "+model+" --model_config "+config+
				" --backend UCX --source memory", importer.Options{})
			o := planned(t, []byte(text)).Cases[0].Options
			size, _ := option.Number(o["block_size"])
			batch, _ := option.Number(o["batch"])
			if got := [2]int64{int64(size), int64(batch)}; got != c.want[i] {
				t.Errorf("%s, %s: block size and batch are %v, and kvbench has %v", name, strategy, got, c.want[i])
			}
		}
	}
}

// FuzzImport checks that imported scenarios load.
func FuzzImport(f *testing.F) {
	f.Add("nixlbench", "nixlbench --backend UCX --op_type READ", false)
	f.Add("ucx_perftest", "UCX_TLS=rc ucx_perftest host -t tag_bw -s8 -n 100", true)
	f.Add("perftest", "ib_write_bw -d mlx5_0 -a host", false)
	f.Add("nixl-ep", "python3 test_data_plane.py --num-processes=8 --mode e2e", false)
	for _, tool := range importer.Tools() {
		for _, line := range importer.CommandLines()[tool] {
			f.Add(tool, line, false)
			f.Add(tool, line, true)
		}
	}
	f.Fuzz(func(t *testing.T, tool, line string, command bool) {
		lines, err := importer.Lines(tool, "", line)
		if err != nil {
			return
		}
		made, err := importer.Import(tool, lines, importer.Options{AsCommand: command})
		if err != nil {
			return
		}
		if _, _, diags := dsl.Load("scenario.yaml", made.Scenario, dsl.Options{}); diags.HasErrors() &&
			!strings.Contains(diags.Error(), "Options that do not go together") {
			t.Errorf("%q became\n%s\n%v", line, made.Scenario, diags)
		}
	})
}

// FuzzFiles is FuzzImport with the files that command lines name.
func FuzzFiles(f *testing.F) {
	f.Add("backend = \"UCX\"\nmax_block_size = 65536\nnum_threads = 2\nrecreate_xfer = true\n", "")
	strategy := "strategy: {tp_size: 8, pp_size: 2, model_quant_mode: fp8, kvcache_quant_mode: fp8}\n" +
		"runtime: {isl: 1000, num_requests: 10}\nsystem: {page_size: 16, access_pattern: layer}\n"
	f.Add("model_name: llama3.1\nnum_layers: 80\nnum_query_heads_with_mha: 64\ngqa_num_queries_in_group: 8\n"+
		"query_head_dimension: 128\n", strategy)
	f.Add("model_name: gpt_oss\nnum_layers: 36\nnum_kv_heads: 8\nquery_head_dimension: 64\n", strategy)
	f.Fuzz(func(t *testing.T, first, second string) {
		o := importer.Options{Read: func(path string) ([]byte, error) {
			return []byte(map[string]string{"a": first, "b": second}[path]), nil
		}}
		for tool, line := range map[string]string{
			"nixlbench": "nixlbench --config_file a",
			"kvbench":   "kvbench plan --model a --model_config b --backend UCX --source memory",
		} {
			lines, err := importer.Lines(tool, "", line)
			if err != nil {
				t.Fatal(err)
			}
			made, err := importer.Import(tool, lines, o)
			if err != nil {
				continue
			}
			if _, _, diags := dsl.Load("scenario.yaml", made.Scenario, dsl.Options{}); diags.HasErrors() &&
				!strings.Contains(diags.Error(), "Options that do not go together") {
				t.Errorf("%s of %q and %q became\n%s\n%v", tool, first, second, made.Scenario, diags)
			}
		}
	})
}
