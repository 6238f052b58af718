package importer

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// model has the parameters of an architecture in a file of kvbench, by key.
type model map[string]int64

// latent reports whether it has multi-head latent attention, as DeepSeek.
func (m model) latent() bool { return m["rope_mla_dimension"] > 0 }

// families are kvbench's classes of models, by a part of the model's name, with the keys that each
// requires.
var families = []struct {
	name string
	keys []string
}{
	{"llama3.1", names("num_layers|num_query_heads_with_mha|gqa_num_queries_in_group|query_head_dimension")},
	{"deepseek_r1", names("num_layers|rope_mla_dimension|mla_latent_vector_dimension")},
	{"gpt_oss", names("num_layers|num_kv_heads|query_head_dimension")},
	{"qwen3", names("num_layers|num_kv_heads|query_head_dimension")},
}

const mostOfKey = 1 << 20

func readModel(file string, o Options) (model, error) {
	if file == "" {
		return nil, fmt.Errorf("--model is missing")
	}
	values, err := readYAML(file, o)
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(values["model_name"] + values["model"]) // the key of older files
	for _, family := range families {
		if !strings.Contains(name, family.name) {
			continue
		}
		m := model{}
		for _, key := range family.keys {
			n, err := strconv.ParseInt(values[key], 10, 64)
			if err != nil || n < 1 || n > mostOfKey {
				return nil, fmt.Errorf("%s: %s: %q is not from 1 to %d", file, key, values[key], mostOfKey)
			}
			m[key] = n
		}
		return m, nil
	}
	return nil, fmt.Errorf("%s: kvbench has no model %q: the name must contain llama3.1, deepseek_r1, gpt_oss or qwen3",
		file, name)
}

// kvConfig are the keys of a configuration of kvbench, with its defaults.
type kvConfig map[string]string

func readKVConfig(file string, o Options) (kvConfig, error) {
	values, err := readYAML(file, o)
	if err != nil {
		return nil, err
	}
	config := kvConfig{
		"tp_size": "1", "pp_size": "1", "model_quant_mode": "fp8", "kvcache_quant_mode": "fp8",
		"num_requests": "1", "isl": "1", "page_size": "1", "access_pattern": "block",
	}
	maps.Copy(config, values)
	return config, nil
}

// readYAML returns the texts of a file by key, including those in sections.
func readYAML(file string, o Options) (map[string]string, error) {
	src, err := o.Read(file)
	if err != nil {
		return nil, err
	}
	top, diags := yamlsyntax.ParsePlain(src, file)
	if diags.HasErrors() {
		return nil, errors.New(diags.Error())
	}
	values := map[string]string{}
	for _, p := range top.Pairs {
		values[p.Key] = p.Value.Text
		for _, inner := range p.Value.Pairs {
			values[inner.Key] = inner.Value.Text
		}
	}
	return values, nil
}

func (c kvConfig) number(key string) (int64, error) {
	n, err := strconv.ParseInt(c[key], 10, 64)
	if err != nil || n < 1 || n > 1<<30 {
		return 0, fmt.Errorf("%s: %q is not from 1 to %d", key, c[key], 1<<30)
	}
	return n, nil
}

var widths = map[string]int64{"fp8": 1, "int8": 1, "fp16": 2, "bfloat16": 2}

// perToken returns the bytes of a token in the cache.
func (m model) perToken(c kvConfig) int64 {
	layers := m["num_layers"]
	if m.latent() {
		return layers * widths[c["kvcache_quant_mode"]] * (m["rope_mla_dimension"] + m["mla_latent_vector_dimension"])
	}
	heads := float64(m["num_kv_heads"])
	if group := m["gqa_num_queries_in_group"]; group > 0 {
		heads = float64(m["num_query_heads_with_mha"]) / float64(group)
	}
	width := float64(widths[c["model_quant_mode"]])
	return int64(float64(layers) * heads * float64(m["query_head_dimension"]) * 2 * width)
}

// request returns the size of a block and the number of blocks of a request. It computes in float64
// and truncates where kvbench does.
func (m model) request(c kvConfig) (block, batch int64, err error) {
	n := map[string]int64{}
	for _, key := range []string{"tp_size", "pp_size", "num_requests", "isl", "page_size"} {
		if n[key], err = c.number(key); err != nil {
			return 0, 0, err
		}
	}
	for _, key := range []string{"model_quant_mode", "kvcache_quant_mode"} {
		if widths[c[key]] == 0 {
			return 0, 0, fmt.Errorf("%s: %q is none of %s", key, c[key], "fp8, int8, fp16, bfloat16")
		}
	}
	stages := 1.0
	switch c["access_pattern"] {
	case "block":
		stages = float64(m["num_layers"]) / float64(n["pp_size"])
	case "layer":
	default:
		return 0, 0, fmt.Errorf("access_pattern: %q is neither block nor layer", c["access_pattern"])
	}
	token := m.perToken(c)
	size := float64(token/m["num_layers"]) / float64(n["tp_size"])
	if m.latent() {
		size *= math.Ceil(stages)
	} else {
		size = math.Trunc(math.Trunc(size) * stages)
	}
	size = math.Trunc(size * float64(n["page_size"]))
	if size < 1 || size > mostBytes {
		return 0, 0, fmt.Errorf("a request of %.0f bytes is too large", size)
	}
	descriptors := math.Ceil(float64(token) * float64(n["isl"]) / size * float64(n["num_requests"]))
	if descriptors > 1<<20 {
		return 0, 0, fmt.Errorf("a request of %.0f blocks is too large: the limit is %d", descriptors, 1<<20)
	}
	return int64(size), int64(descriptors), nil
}
