package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

const (
	noStorage = "storage is not measured by this version of weir"
	gpuStarts = "requests started by a GPU kernel are not measured by this version of weir"
)

var nixlbench = &tool{
	name: "nixlbench", settings: nixlbenchConfig, native: nixlbenchRun, command: nixlbenchCommand,
	nodes: nixlbenchNodes, processes: nixlbenchProcess, ofProcess: names("device_list"),
	measures: func(c *call) string { return c.text("backend") + "-" + c.text("op_type") },
}

// large is the block size above which nixlbench reduces the iterations.
const large = 1 << 20

// bounds of what the import computes with; weir's own are lower.
const (
	mostBytes      = 1 << 40
	mostIterations = 1 << 40
	mostProcesses  = 1 << 10
)

// configWords converts a flat TOML file, with names of flags as keys, to flags.
func configWords(src []byte) ([]string, error) {
	var keys map[string]any
	meta, err := toml.Decode(string(src), &keys)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, key := range meta.Keys() {
		switch v := keys[key[0]].(type) {
		case string, bool, int64:
			words = append(words, fmt.Sprintf("--%s=%v", key[0], v))
		default:
			return nil, fmt.Errorf("key %s: nixlbench reads texts, whole numbers, true and false", key[0])
		}
	}
	return words, nil
}

// Config reads the configuration file of nixlbench as a call.
func Config(file string, src []byte) ([]Line, error) {
	words, err := configWords(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return []Line{{at: file + ": ", path: "nixlbench", args: words}}, nil
}

// nixlbenchConfig returns the settings of the file of --config_file.
func nixlbenchConfig(c *call, o Options) ([]setting, error) {
	file := c.text("config_file")
	if file == "" || o.Read == nil {
		return nil, nil
	}
	src, err := o.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--config_file: %w", err)
	}
	words, err := configWords(src)
	if err != nil {
		return nil, fmt.Errorf("--config_file %s: %w", file, err)
	}
	settings, _, err := c.tool.parse(words)
	if err != nil {
		return nil, fmt.Errorf("--config_file %s: %w", file, err)
	}
	return settings, nil
}

func nixlbenchRun(c *call) {
	if c.text("config_file") != "" && c.own == 0 {
		c.note("--config_file: it sets nothing")
	}
	nixlbenchBackend(c)
	nixlbenchRanks(c)
	nixlbenchSizes(c)
	if c.has("enable_vmm") && c.run.options["initiator"] != vram && c.run.options["target"] != vram {
		c.note("--enable_vmm: no buffer is in GPU memory")
		delete(c.run.options, "vram_alloc")
	}
	c.usePrivateMemory()
}

// networkBackends are those that weir has, too.
var networkBackends = names("UCX|LIBFABRIC|Mooncake|UCCL")

func nixlbenchBackend(c *call) {
	backend := c.text("backend")
	switch {
	case slices.Contains(networkBackends, backend):
	case slices.Contains(storageBackends, backend):
		c.fail("--backend %s: %s; --as-command runs nixlbench itself", backend, noStorage)
	case backend == "GPUNETIO":
		c.fail("--backend %s: %s; --as-command runs nixlbench itself", backend, gpuStarts)
	default:
		known := slices.Concat(networkBackends, []string{"GPUNETIO"}, storageBackends)
		c.fail("--backend: nixlbench has no backend %q; it has %s", backend, strings.Join(known, ", "))
	}
	c.set("fabric", literal("nixl"))
	c.set("nixl_backend", literal(backend))
	var params []string
	if backend == "UCX" {
		// as nixlbench: one more than threads, which are separate agents here
		params = append(params, "num_workers=2")
	}
	if threads := c.number("progress_threads", 0, mostProcesses); threads > 0 {
		params = append(params, fmt.Sprintf("num_threads=%d", threads))
	}
	if params != nil {
		c.set("nixl_params", literal(strings.Join(params, ";")))
	}
	switch device := c.text("device_list"); {
	case device == "all" || device == "":
	case backend != "UCX":
		c.warn("--device_list: nixlbench reads it with backend UCX only")
	case strings.Contains(device, ","):
		c.unmappedFlag("--device_list: each rank has its own device; write place: {nics_per_rank: 1}")
	case strings.Contains(device, ":"):
		c.setEnv("UCX_NET_DEVICES", device)
	default:
		c.setEnv("UCX_NET_DEVICES", device+":1")
	}
}

var storageBackends = names("GDS|GDS_MT|POSIX|HF3FS|OBJ|GUSLI|AZURE_BLOB|INFINIA")

func nixlbenchRanks(c *call) {
	from, to := c.number("num_initiator_dev", 1, mostProcesses), c.number("num_target_dev", 1, mostProcesses)
	several := from > 1 || to > 1
	switch c.text("mode") {
	case "SG":
		if several && c.text("scheme") != "pairwise" {
			c.warn("--mode SG: nixlbench hangs with scheme %s; weir moves the data of the scheme",
				c.text("scheme"))
		} else if several {
			c.note("--mode SG: each process of nixlbench moves the blocks of all devices but counts only those of one; weir's ranks count what they move")
		}
	case "MG":
		if several {
			c.warn("--mode MG: nixlbench has one process for all devices of a side; weir has one rank for each device")
		}
	default:
		c.fail("--mode: %q is neither SG nor MG", c.text("mode"))
	}
	ranks, pattern := from+to, "pairwise"
	scheme := c.text("scheme")
	switch scheme {
	case "pairwise", "tp":
		if from != to {
			c.fail("--scheme %s with %d and %d devices: weir needs the same number on both sides",
				scheme, from, to)
		}
	case "onetomany":
		pattern = "one_to_many"
		if from != 1 {
			c.fail("--scheme %s with %d initiators: weir's pattern %s has one", scheme, from, pattern)
		}
	case "manytoone":
		pattern = "many_to_one"
		if to != 1 {
			c.fail("--scheme %s with %d targets: weir's pattern %s has one", scheme, to, pattern)
		}
	default:
		c.fail("--scheme: %q is none of pairwise, manytoone, onetomany, tp; nixlbench silently uses pairwise",
			scheme)
	}
	if pattern != "pairwise" && ranks > 2 {
		c.set("pattern", literal(pattern))
	}
	if ranks > 2 {
		c.set("ranks", count(ranks))
	}
	if c.run.nodes == 2 && from != (ranks+1)/2 {
		c.warn("weir spreads its %d ranks over two nodes in equal blocks: some initiators and targets share a node",
			ranks)
	}
}

func nixlbenchSizes(c *call) {
	blocks := c.doubled("start_block_size", "max_block_size", mostBytes)
	batches := c.doubled("start_batch_size", "max_batch_size", 1<<20)
	threads, factor := c.number("num_threads", 1, mostProcesses), c.number("large_blk_iter_ftr", 1, 1<<20)
	rounded := func(n int64) value {
		part := threads * factor
		small := (n + part - 1) / part * factor
		return iterations(small, small/factor, blocks)
	}
	c.set("iterations", rounded(c.number("num_iter", 1, mostIterations)))
	c.set("warmup", rounded(c.number("warmup_iter", 0, mostIterations)))
	c.run.points("block_size", blocks, size)
	c.run.points("batch", batches, count)
	c.refusedBuffers(blocks, batches, threads)
}

// iterations returns those of a thread: fewer with large blocks.
func iterations(small, big int64, blocks []int64) value {
	switch {
	case small == big || blocks[len(blocks)-1] <= large:
		return count(small)
	case blocks[0] > large:
		return count(big)
	}
	return expression(fmt.Sprintf(`${axis.block_size > size("1MiB") ? %d : %d}`, big, small))
}

// doubled returns the values of an axis of nixlbench, doubled from the start up to and including
// the end if it is met.
func (c *call) doubled(start, end string, most int64) (values []int64) {
	first, last := c.number(start, 1, most), c.number(end, 1, most)
	for n := first; n <= last; n *= 2 {
		values = append(values, n)
	}
	if values == nil {
		c.fail("--%s %d is above --%s %d: nixlbench measures nothing", start, first, end, last)
		return []int64{first}
	}
	return values
}

// refusedBuffers notes buffers with which nixlbench does not start, but weir does.
func (c *call) refusedBuffers(blocks, batches []int64, threads int64) {
	total := c.number("total_buffer_size", 1, 1<<62)
	need := blocks[len(blocks)-1] * batches[len(batches)-1]
	for _, by := range []string{c.text("num_initiator_dev"), c.text("num_target_dev"), strconv.FormatInt(threads, 10)} {
		n, err := strconv.ParseInt(by, 10, 64)
		if err == nil && n > 0 && (need > total/n || total%(n*threads) != 0) {
			c.note("--total_buffer_size: nixlbench refuses %d bytes for %d devices or threads and requests of %d",
				total, n, need)
			return
		}
	}
}
