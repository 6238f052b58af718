package model

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The published config.json of each architecture gives the numbers of the table.
func TestConfigFilesGiveTheTable(t *testing.T) {
	for file, name := range map[string]string{
		"llama-3.1-405b.json": "llama-405b", "qwen3-30b-a3b.json": "qwen3-30b-a3b", "deepseek-r1.json": "deepseek-r1",
		"gpt-oss-120b.json": "gpt-oss-120b",
	} {
		src, err := os.ReadFile(filepath.Join("testdata", "config", file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadConfig(src, file)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		table := *want
		table.Name, table.Source = file, file
		if table.MLA != nil {
			got.HeadDim = 0 // of a model with latent attention no size follows from it
		}
		if !reflect.DeepEqual(*got, table) {
			t.Errorf("%s: %+v\nthe table has %+v", file, *got, table)
		}
	}
}

// small is a config with the given keys and those of every model.
func small(keys string) string {
	return fmt.Sprintf(`{"num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 8%s}`, keys)
}

// gemma3 are the keys that a file of Gemma 3 must also have: its code has defaults that do not follow from other keys.
const gemma3 = `, "model_type": "gemma3_text", "sliding_window": 16, "num_key_value_heads": 4, "head_dim": 16`

func TestWindowsAreFoundAsTheModelsHaveThem(t *testing.T) {
	all := []bool{true, true, true, true, true, true}
	for keys, want := range map[string][]bool{
		``:                          nil,
		`, "sliding_window": null`:  nil,
		`, "sliding_window": 16`:    all, // Mistral 7B v0.1
		`, "model_type": "mistral"`: nil,
		`, "sliding_window": 16, "use_sliding_window": false`: nil,
		`, "model_type": "qwen2", "sliding_window": 16`:       nil,
		`, "model_type": "qwen2", "sliding_window": 16, "use_sliding_window": true, "max_window_layers": 4`: {false,
			false, false, false, true, true},

		`, "model_type": "gemma2", "sliding_window": 16`:  {true, false, true, false, true, false},
		`, "model_type": "gpt_oss", "sliding_window": 16`: {true, false, true, false, true, false},
		gemma3:                                   {true, true, true, true, true, false},
		gemma3 + `, "sliding_window_pattern": 2`: {true, false, true, false, true, false},
		`, "sliding_window": 16, "sliding_window_pattern": 3`: {true, true, false, true, true, false},
		`, "sliding_window": 16, "layer_types": [` + fullLayers +
			`,"sliding_attention"]`: {false, false, false, false, false, true},
		`, "sliding_window": 16, "layer_types": [` + fullLayers + `,"full_attention"]`: nil,
	} {
		m, err := ReadConfig([]byte(small(keys)), "c.json")
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if !slices.Equal(m.Windows, want) || want != nil && m.Window != 16 {
			t.Errorf("%s: window %d in layers %v, want %v", keys, m.Window, m.Windows, want)
		}
	}
}

// gemma3Published are the keys of gemma-3-12b-it's file.
const gemma3Published = `{"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {"hidden_size": 3840, "intermediate_size": 15360, "model_type": "gemma3_text",
	"num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024}}`

// fullLayers are five layers of full attention.
const fullLayers = `"full_attention","full_attention","full_attention","full_attention","full_attention"`

// hugeLayers asks for a list that no memory holds.
const hugeLayers = `{"num_hidden_layers": 4611686018427387904, "hidden_size": 64, "num_attention_heads": 8, "sliding_window": 16}`

// With the head size, which the file leaves to the code, gemma-3-12b-it keeps 16000 tokens in 8 layers and 1024 in 40.
func TestGemma3Cache(t *testing.T) {
	m, err := ReadConfig([]byte(strings.Replace(gemma3Published, `"num_hidden_layers"`,
		`"head_dim": 256, "num_hidden_layers"`, 1)), "c.json")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.KVBytes(16000, m.DType), int64(8*16000+40*1024)*8*256*2*2; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// A null key counts as missing.
func TestKeysThatAreNullAreMissing(t *testing.T) {
	if _, err := ReadConfig([]byte(small(`, "multi_query": null, "attn_type_list": null, "num_kv_heads": null`)),
		"c.json"); err != nil {
		t.Error(err)
	}
}

func TestConfigsOfOtherShapes(t *testing.T) {
	m, err := ReadConfig([]byte(`{"torch_dtype": "float16", "text_config": `+
		small(`, "num_key_value_heads": 2, "head_dim": 32`)+`}`), "c.json")
	if err != nil || m.DType != "float16" || m.KVHeads != 2 || m.HeadDim != 32 {
		t.Errorf("a model with eyes: %+v, %v", m, err)
	}
	m, err = ReadConfig([]byte(small(``)), "c.json")
	if err != nil || m.KVHeads != 8 || m.HeadDim != 8 || m.DType != "bfloat16" {
		t.Errorf("heads of their own: %+v, %v", m, err)
	}
}

func TestWrongConfigsAreRefused(t *testing.T) {
	for src, want := range map[string]string{
		"{":             "c.json:1:",
		"{\n \"a\": x}": "c.json:2:7: invalid character 'x'",
		"{\"a\": 1,\n \"num_hidden_layers\": \"six\"}": "c.json:2:",
		`{}`: "num_hidden_layers is missing",
		`{"num_hidden_layers": 6, "hidden_size": -1}`:                      "hidden_size is missing or not above 0",
		small(`, "num_key_value_heads": 3`):                                "share 3 KV heads",
		small(`, "torch_dtype": "mxfp4"`):                                  `unknown type "mxfp4"`,
		small(`, "kv_lora_rank": 512`):                                     "latent attention",
		small(`, "layer_types": ["full_attention"]`):                       "1 entries for 6 layers",
		small(`, "layer_types": ["linear_attention",` + fullLayers + `]`):  `layer 0 is of type "linear_attention"`,
		small(`, "layer_types": ["sliding_attention",` + fullLayers + `]`): "sliding_window is not above 0",
		small(`, "sliding_window": 16, "sliding_window_pattern": -1`):      "sliding_window_pattern",
		small(`, "full_attention_interval": 4, "linear_num_key_heads": 16`): "full_attention_interval " +
			"is not supported: a model with that key has layers that keep no keys and values of every token",
		small(`, "linear_num_key_heads": 16`):                     "linear_num_key_heads is not supported",
		small(`, "hybrid_override_pattern": "M-M*M-"`):            "hybrid_override_pattern is not supported",
		small(`, "attn_layer_period": 8, "attn_layer_offset": 4`): "attn_layer_period is not supported",
		small(`, "attn_layer_indices": [3]`):                      "attn_layer_indices is not supported",
		small(`, "attn_type_list": [0, 0, 0, 0, 0, 1]`):           "attn_type_list is not supported",
		small(`, "num_kv_heads": 8, "new_decoder_architecture": true`): "num_kv_heads is not supported: " +
			"a model with that key has its own rule for how many heads are cached",
		small(`, "multi_query": true`):  "multi_query is not supported",
		small(`, "multi_query": false`): "multi_query is not supported",
		`{"model_type": "any", "text_config": ` + small(`, "attn_layer_period": 8`) +
			`}`: "attn_layer_period is not supported",
		small(strings.Replace(gemma3, "head_dim", "_", 1)): "head_dim is missing: " +
			"gemma3_text has a default",
		small(strings.Replace(gemma3, "num_key_value_heads", "_", 1)): "num_key_value_heads is missing: " +
			"gemma3_text has",
		small(strings.Replace(gemma3, `"sliding_window"`, `"_"`, 1)): "sliding_window is missing: gemma3_text",
		`{"model_type": "gemma3", "text_config": ` + small(`, "sliding_window": 16`) +
			`}`: "head_dim is missing: gemma3",
		gemma3Published: "head_dim is missing",
		hugeLayers:      "num_hidden_layers is 4611686018427387904: a model has at most 1048576",
		`{"num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 1048577}`: "num_attention_heads " +
			"is 1048577: a model has at most 1048576",
		small(`, "num_experts": 8, "num_experts_per_tok": 9, "moe_intermediate_size": 4`): "experts",
	} {
		_, err := ReadConfig([]byte(src), "c.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.json:") {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add(small(`, "sliding_window": 16`))
	f.Add(small(`, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 1, "v_head_dim": 1`))
	f.Add(`{"text_config": null}`)
	f.Add(hugeLayers)
	f.Add(gemma3Published)
	f.Add(small(gemma3))
	f.Add(small(`, "attn_type_list": [0, 1], "hybrid_override_pattern": "M*", "multi_query": {}`))
	f.Fuzz(func(t *testing.T, src string) {
		m, err := ReadConfig([]byte(src), "c.json")
		if err != nil {
			return
		}
		if m.KVBytes(MaxTokens, "float32") <= 0 || m.KVBytes(1, "float32") <= 0 {
			t.Errorf("%s: %d bytes for a token", src, m.KVBytes(1, "float32"))
		}
	})
}
