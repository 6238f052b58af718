package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var kvbench = &tool{name: "kvbench", instead: kvbenchCalls}

// kvbenchCalls returns the calls of nixlbench that a call of kvbench makes.
func kvbenchCalls(c *call, o Options) ([]*call, error) {
	switch {
	case len(c.positional) != 1:
		return nil, fmt.Errorf("kvbench needs one of the commands plan, profile and kvcache")
	case strings.HasSuffix(c.positional[0], "ct-perftest"):
		return nil, fmt.Errorf("kvbench %s: weir import ct-perftest reads its files", c.positional[0])
	case !slices.Contains(names("plan|profile|kvcache"), c.positional[0]):
		return nil, fmt.Errorf("kvbench %s: the commands are plan, profile and kvcache", c.positional[0])
	case o.Read == nil:
		return nil, fmt.Errorf("no files are available for kvbench")
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
		return nil, fmt.Errorf("--model_config or --model_configs is missing, or matches no file")
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// ofConfig returns the call of nixlbench for one configuration.
func (c *call) ofConfig(m model, file string, o Options) (*call, error) {
	config, err := readKVConfig(file, o)
	if err != nil {
		return nil, err
	}
	for flag, key := range map[string]string{
		"pp": "pp_size", "tp": "tp_size", "isl": "isl", "num_requests": "num_requests", "page_size": "page_size",
		"access_pattern": "access_pattern",
	} {
		if v := c.text(flag); v != "" && v != "0" { // a zero means unset, as in kvbench
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
		if slices.Contains(c.tool.Passed, s.flag.Names[0]) {
			put(s.flag.Names[0], s.value)
		} else if s.flag.fate == ignored {
			l.notes = append(l.notes, Note{Text: s.flag.shown() + ": " + s.flag.says})
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

// sides returns the kinds of memory that kvbench passes to nixlbench.
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
