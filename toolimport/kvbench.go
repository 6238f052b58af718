package toolimport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// passedOn are the flags that kvbench gives to nixlbench as they are.
var passedOn = names("worker_type|scheme|mode|op_type|check_consistency|num_iter|warmup_iter|large_blk_iter_ftr|num_threads|" +
	"num_initiator_dev|num_target_dev|enable_pt|progress_threads|device_list|enable_vmm|recreate_xfer|benchmark_group|runtime_type|" +
	"etcd_endpoints|storage_enable_direct|filepath|num_files|gds_batch_pool_size|gds_batch_limit|gds_mt_num_threads|posix_api_type|" +
	"hf3fs_iopool_size|gpunetio_device_list|gpunetio_oob_list|obj_access_key|obj_secret_key|obj_session_token|obj_bucket_name|" +
	"obj_scheme|obj_region|obj_use_virtual_addressing|obj_endpoint_override|obj_req_checksum")

const computed = "kvbench computes it from the model"

// kvbench is described in benchmark/kvbench of ai-dynamo/nixl.
var kvbench = &tool{
	name:     "kvbench",
	programs: names("kvbench|main.py"),
	doc: "What kvbench plan, profile and kvcache compute of a model and its configuration, as the call of nixlbench that it makes. " +
		"Formulas are kvbench's own, with their defects: they take the width of the model's weights for that of its cache, and a batch is that of all ranks. " +
		"Its ct-perftest and sequential-ct-perftest are for weir import ct-perftest.",
	style: argparse, instead: kvbenchCalls,
	flags: slices.Concat([]flag{
		use("model", text, "", "the model's file; needed"),
		use("model_config", text, "", "the configuration's file; needed, or model_configs"),
		use("model_configs", text, "", "a pattern of such files: a run for each"),
		use("backend", text, "", "nixlbench's backend; needed, since kvbench fails without it"),
		use("source", text, "file", "memory is DRAM and gpu VRAM at the initiator; file is storage"),
		use("destination", text, "memory", "memory is DRAM and gpu VRAM at the target"),
		use("pp", number, "", "goes before pp_size of the configuration"), use("tp", number, "", "goes before tp_size"),
		use("isl", number, "", "goes before isl"), use("num_requests", number, "", "goes before num_requests"),
		use("page_size", number, "", "goes before page_size"),
		use("access_pattern", text, "", "goes before access_pattern"),
		ignore("osl", number, "kvbench computes nothing from it"),
		ignore("format", text, printing),
		ignore("start_block_size|max_block_size|start_batch_size|max_batch_size|total_buffer_size", number, computed),
		ignore("initiator_seg_type|target_seg_type", text, computed),
	}, passed()),
}

// passed are rows of nixlbench, as argparse takes them.
func passed() (all []flag) {
	for _, name := range passedOn {
		f := *nixlbench.flag(name)
		f.doc, f.fate, f.values = "as of nixlbench", used, nil
		if f.takes == boolean {
			f.takes = nothing
		}
		all = append(all, f)
	}
	return all
}

// kvbenchCalls are the calls of nixlbench that a call of kvbench makes.
func kvbenchCalls(c *call, o Options) ([]*call, error) {
	switch {
	case len(c.positional) != 1:
		return nil, fmt.Errorf("kvbench has one command: plan, profile or kvcache")
	case strings.HasSuffix(c.positional[0], "ct-perftest"):
		return nil, fmt.Errorf("kvbench %s: weir import ct-perftest reads its files", c.positional[0])
	case !slices.Contains(names("plan|profile|kvcache"), c.positional[0]):
		return nil, fmt.Errorf("kvbench %s: the commands are plan, profile and kvcache", c.positional[0])
	case o.Read == nil:
		return nil, fmt.Errorf("kvbench needs its files")
	}
	model, err := readModel(c.text("model"), o)
	if err != nil {
		return nil, err
	}
	files, err := c.configFiles(o)
	if err != nil {
		return nil, err
	}
	var calls []*call
	for _, file := range files {
		made, err := c.ofConfig(model, file, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		calls = append(calls, made)
	}
	return calls, nil
}

func (c *call) configFiles(o Options) (files []string, err error) {
	if file := c.text("model_config"); file != "" {
		files = append(files, file)
	}
	if pattern := c.text("model_configs"); pattern != "" && o.Glob != nil {
		found, err := o.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("--model_configs %s: %w", pattern, err)
		}
		files = append(files, found...)
	}
	if files == nil {
		return nil, fmt.Errorf("--model_config or --model_configs is missing, or names no file")
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// ofConfig is the call of nixlbench for one configuration.
func (c *call) ofConfig(m *model, file string, o Options) (*call, error) {
	config, err := readKVConfig(file, o)
	if err != nil {
		return nil, err
	}
	for flag, key := range map[string]string{
		"pp": "pp_size", "tp": "tp_size", "isl": "isl", "num_requests": "num_requests", "page_size": "page_size",
		"access_pattern": "access_pattern",
	} {
		if v := c.text(flag); v != "" && v != "0" { // as kvbench: a zero says nothing
			config[key] = v
		}
	}
	block, batch, err := m.request(config)
	if err != nil {
		return nil, err
	}
	l := Line{at: c.at, path: nixlbench.name, env: c.run.env, notes: slices.Clone(c.notes)}
	put := func(name, v string) { l.args = append(l.args, "--"+name+"="+v) }
	for _, s := range c.given {
		if slices.Contains(passedOn, s.flag.names[0]) {
			put(s.flag.names[0], s.value)
		} else if s.flag.fate == ignored {
			l.notes = append(l.notes, Note{Text: s.flag.shown() + ": " + s.flag.doc})
		}
	}
	backend, sides, err := c.sides()
	if err != nil {
		return nil, err
	}
	put("backend", backend)
	for i, side := range []string{"initiator_seg_type", "target_seg_type"} {
		put(side, sides[i])
	}
	for _, name := range []string{"start_block_size", "max_block_size"} {
		put(name, strconv.FormatInt(block, 10))
	}
	for _, name := range []string{"start_batch_size", "max_batch_size"} {
		put(name, strconv.FormatInt(batch, 10))
	}
	put("total_buffer_size", strconv.FormatInt(block*batch, 10))
	l.notes = append(l.notes, Note{Text: fmt.Sprintf("%s with %s: %d bytes of cache a token, blocks of %d bytes, %d of them",
		filepath.Base(c.text("model")), filepath.Base(file), m.perToken(config), block, batch)})
	return nixlbench.read(l, o)
}

// sides are the kinds of memory that kvbench gives to nixlbench.
func (c *call) sides() (backend string, kinds [2]string, err error) {
	backend = c.text("backend")
	all := names("UCX|GPUNETIO|Mooncake")
	i := slices.IndexFunc(all, func(name string) bool { return strings.EqualFold(name, backend) })
	switch {
	case backend == "":
		return "", kinds, fmt.Errorf("--backend is missing: kvbench fails without it")
	case slices.ContainsFunc(names("GDS|GDS_MT|POSIX|HF3FS|OBJ"),
		func(name string) bool { return strings.EqualFold(name, backend) }):
		return "", kinds, fmt.Errorf("--backend %s: %s", backend, noStorage)
	case i < 0:
		return "", kinds, fmt.Errorf("--backend %s: kvbench refuses it", backend)
	}
	for side, flag := range []string{"source", "destination"} {
		kind, ok := map[string]string{"memory": "DRAM", "gpu": "VRAM"}[c.text(flag)]
		if !ok {
			return "", kinds, fmt.Errorf("--%s %s: with backend %s kvbench takes memory and gpu", flag, c.text(flag),
				backend)
		}
		kinds[side] = kind
	}
	return all[i], kinds, nil
}
