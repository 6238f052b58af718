package toolimport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// large is the block size above which nixlbench makes fewer iterations.
const large = 1 << 20

// bounds of what the import computes with; weir's own are lower.
const (
	mostBytes      = 1 << 40
	mostIterations = 1 << 40
	mostProcesses  = 1 << 10
)

// configWords are the flags of a flat TOML file, whose keys are names of flags.
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

// Config makes a call of nixlbench of its configuration file.
func Config(file string, src []byte) ([]Line, error) {
	words, err := configWords(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return []Line{{at: file + ": ", path: "nixlbench", args: words}}, nil
}

// nixlbenchConfig are the settings of the file that --config_file names.
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

func nixlbenchRun(c *call) error {
	if c.text("config_file") != "" && c.own == 0 {
		c.note("--config_file: it sets nothing")
	}
	for _, step := range []func(*call) error{nixlbenchBackend, nixlbenchRanks, nixlbenchSizes} {
		if err := step(c); err != nil {
			return err
		}
	}
	if c.has("enable_vmm") && c.run.options["initiator"] != vram && c.run.options["target"] != vram {
		c.note("--enable_vmm: no buffer is in memory of a GPU")
		delete(c.run.options, "vram_alloc")
	}
	c.heap()
	return nil
}

func nixlbenchBackend(c *call) error {
	backend := c.text("backend")
	switch {
	case slices.Contains(names("UCX|LIBFABRIC|Mooncake|UCCL"), backend):
	case slices.Contains(storageBackends, backend):
		return fmt.Errorf("--backend %s: %s; --as-command runs nixlbench itself", backend, noStorage)
	case backend == "GPUNETIO":
		return fmt.Errorf("--backend %s: %s; --as-command runs nixlbench itself", backend, gpuStarts)
	default:
		return fmt.Errorf("--backend: nixlbench has no backend %q", backend)
	}
	c.set("fabric", literal("nixl"))
	c.set("nixl_backend", literal(backend))
	var params []string
	if backend == "UCX" {
		// as nixlbench: one more than threads, which are agents of their own here
		params = append(params, "num_workers=2")
	}
	threads, err := c.number("progress_threads", 0, mostProcesses)
	if err != nil {
		return err
	}
	if threads > 0 {
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
		c.lose("--device_list: each rank has a device of its own there; write place: {nics_per_rank: 1}")
	case strings.Contains(device, ":"):
		c.setEnv("UCX_NET_DEVICES", device)
	default:
		c.setEnv("UCX_NET_DEVICES", device+":1")
	}
	return nil
}

var storageBackends = names("GDS|GDS_MT|POSIX|HF3FS|OBJ|GUSLI|AZURE_BLOB|INFINIA")

func nixlbenchRanks(c *call) error {
	from, err := c.number("num_initiator_dev", 1, mostProcesses)
	if err != nil {
		return err
	}
	to, err := c.number("num_target_dev", 1, mostProcesses)
	if err != nil {
		return err
	}
	several := from > 1 || to > 1
	switch c.text("mode") {
	case "SG":
		if several && c.text("scheme") != "pairwise" {
			c.warn("--mode SG: nixlbench does not end with scheme %s in it; weir moves what the scheme says",
				c.text("scheme"))
		} else if several {
			c.note("--mode SG: each process of nixlbench moves the blocks of all devices and counts those of one; weir's ranks move what they count")
		}
	case "MG":
		if several {
			c.warn("--mode MG: nixlbench has a process for all devices of a side; weir has a rank for each")
		}
	default:
		return fmt.Errorf("--mode: %q is neither SG nor MG", c.text("mode"))
	}
	ranks, pattern := from+to, "pairwise"
	scheme := c.text("scheme")
	switch scheme {
	case "pairwise", "tp":
		if from != to {
			return fmt.Errorf("--scheme %s with %d and %d devices: weir's pairs have as many ranks at both sides",
				scheme, from, to)
		}
	case "onetomany":
		pattern = "one_to_many"
		if from != 1 {
			return fmt.Errorf("--scheme %s with %d initiators: weir's pattern %s has one", scheme, from, pattern)
		}
	case "manytoone":
		pattern = "many_to_one"
		if to != 1 {
			return fmt.Errorf("--scheme %s with %d targets: weir's pattern %s has one", scheme, to, pattern)
		}
	default:
		return fmt.Errorf("--scheme: %q is none of pairwise, manytoone, onetomany, tp; nixlbench takes it for pairwise without a word",
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
	return nil
}

func nixlbenchSizes(c *call) error {
	blocks, err := c.doubled("start_block_size", "max_block_size", mostBytes)
	if err != nil {
		return err
	}
	batches, err := c.doubled("start_batch_size", "max_batch_size", 1<<20)
	if err != nil {
		return err
	}
	threads, err := c.number("num_threads", 1, mostProcesses)
	if err != nil {
		return err
	}
	factor, err := c.number("large_blk_iter_ftr", 1, 1<<20)
	if err != nil {
		return err
	}
	for flag, option := range map[string]string{"num_iter": "iterations", "warmup_iter": "warmup"} {
		least := int64(0)
		if flag == "num_iter" {
			least = 1
		}
		n, err := c.number(flag, least, mostIterations)
		if err != nil {
			return err
		}
		part := threads * factor
		small := (n + part - 1) / part * factor
		c.set(option, iterations(small, small/factor, blocks))
	}
	c.run.points("block_size", blocks, size)
	c.run.points("batch", batches, count)
	return c.refusedBuffers(blocks, batches, threads)
}

// iterations are those of a thread: fewer with large blocks.
func iterations(small, big int64, blocks []int64) value {
	switch {
	case small == big || blocks[len(blocks)-1] <= large:
		return count(small)
	case blocks[0] > large:
		return count(big)
	}
	return expression(fmt.Sprintf(`${axis.block_size > size("1MiB") ? %d : %d}`, big, small))
}

// doubled are the values of an axis of nixlbench; its last is hit or left out.
func (c *call) doubled(start, end string, most int64) (values []int64, err error) {
	first, err := c.number(start, 1, most)
	if err != nil {
		return nil, err
	}
	last, err := c.number(end, 1, most)
	if err != nil {
		return nil, err
	}
	for n := first; n <= last; n *= 2 {
		values = append(values, n)
	}
	if values == nil {
		return nil, fmt.Errorf("--%s %d is above --%s %d: nixlbench measures nothing", start, first, end, last)
	}
	return values, nil
}

// refusedBuffers tells of what nixlbench does not start with, and weir does.
func (c *call) refusedBuffers(blocks, batches []int64, threads int64) error {
	total, err := c.number("total_buffer_size", 1, 1<<62)
	if err != nil {
		return err
	}
	need := blocks[len(blocks)-1] * batches[len(batches)-1]
	for _, by := range []string{c.text("num_initiator_dev"), c.text("num_target_dev"), strconv.FormatInt(threads, 10)} {
		n, err := strconv.ParseInt(by, 10, 64)
		if err == nil && n > 0 && (need > total/n || total%(n*threads) != 0) {
			c.note("--total_buffer_size: nixlbench refuses %d bytes for %d devices or threads and requests of %d",
				total, n, need)
			return nil
		}
	}
	return nil
}
