package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// config are the relevant keys of a config.json. A missing or null key is nil.
type config struct {
	ModelType  string  `json:"model_type"`
	TextConfig *config `json:"text_config"` // of a multimodal model

	Layers       *int `json:"num_hidden_layers"`
	Hidden       *int `json:"hidden_size"`
	Heads        *int `json:"num_attention_heads"`
	KVHeads      *int `json:"num_key_value_heads"`
	HeadDim      *int `json:"head_dim"`
	Intermediate *int `json:"intermediate_size"`

	LatentRank *int `json:"kv_lora_rank"`
	Rope       *int `json:"qk_rope_head_dim"`
	Nope       *int `json:"qk_nope_head_dim"`
	ValueDim   *int `json:"v_head_dim"`
	QueryRank  *int `json:"q_lora_rank"`

	Window        *int     `json:"sliding_window"`
	UseWindow     *bool    `json:"use_sliding_window"`
	MaxWindow     *int     `json:"max_window_layers"`
	WindowPattern *int     `json:"sliding_window_pattern"`
	LayerTypes    []string `json:"layer_types"`

	NumExperts    *int `json:"num_experts"`
	LocalExperts  *int `json:"num_local_experts"`
	RoutedExperts *int `json:"n_routed_experts"`
	ActiveExperts *int `json:"num_experts_per_tok"`
	SharedExperts *int `json:"n_shared_experts"`
	ExpertWidth   *int `json:"moe_intermediate_size"`
	DenseLayers   *int `json:"first_k_dense_replace"`

	// Keys of unsupported models, where the layers with attention, or the number of cached heads, depend on further
	// keys.
	FullInterval   given `json:"full_attention_interval"` // Qwen3-Next
	LinearHeads    given `json:"linear_num_key_heads"`    // Qwen3-Next
	HybridPattern  given `json:"hybrid_override_pattern"` // Nemotron-H
	AttnPeriod     given `json:"attn_layer_period"`       // Jamba
	AttnIndices    given `json:"attn_layer_indices"`      // Bamba
	AttnTypes      given `json:"attn_type_list"`          // MiniMax-Text
	FalconKVHeads  given `json:"num_kv_heads"`            // Falcon 40B, 180B
	FalconOneGroup given `json:"multi_query"`             // Falcon 7B

	TorchDType string `json:"torch_dtype"`
	DType      string `json:"dtype"`
}

// given is true for a key with any value.
type given bool

// UnmarshalJSON accepts any value.
func (g *given) UnmarshalJSON(value []byte) error {
	*g = string(value) != "null"
	return nil
}

// ReadConfig reads a config.json of Hugging Face's transformers. It rejects models with a cache other than keys and
// values (linear attention, state spaces), or with other keys for them than most models.
func ReadConfig(src []byte, file string) (*Model, error) {
	var c config
	if err := json.Unmarshal(src, &c); err != nil {
		return nil, jsonError(src, file, err)
	}
	if c.TextConfig != nil {
		outer := c
		c = *outer.TextConfig
		if c.TorchDType == "" && c.DType == "" {
			c.TorchDType, c.DType = outer.TorchDType, outer.DType
		}
		if c.ModelType == "" {
			c.ModelType = outer.ModelType
		}
	}
	m, err := c.model()
	if err == nil {
		m.Name, m.Source = file, file
		err = m.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// jsonError adds the position to an error of encoding/json.
func jsonError(src []byte, file string, err error) error {
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset, err = mistyped.Offset, fmt.Errorf("%s is a %s", mistyped.Field, mistyped.Value)
	}
	if offset < 0 {
		return fmt.Errorf("%s: %w", file, err)
	}
	before := src[:min(max(offset-1, 0), int64(len(src)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	return fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
}

// supported rejects a file with a key that makes the size of the cache differ from the formula here.
func (c *config) supported() error {
	const hybrid, grouped = "has layers that keep no keys and values of every token",
		"has its own rule for how many heads are cached"
	for _, k := range []struct {
		name  string
		given given
		model string
	}{
		{"full_attention_interval", c.FullInterval, hybrid}, {"linear_num_key_heads", c.LinearHeads, hybrid},
		{"hybrid_override_pattern", c.HybridPattern, hybrid},
		{"attn_layer_period", c.AttnPeriod, hybrid}, {"attn_layer_indices", c.AttnIndices, hybrid},
		{"attn_type_list", c.AttnTypes, hybrid},
		{"num_kv_heads", c.FalconKVHeads, grouped}, {"multi_query", c.FalconOneGroup, grouped},
	} {
		if k.given {
			return fmt.Errorf("%s is not supported: a model with that key %s", k.name, k.model)
		}
	}
	if !c.gemma3() {
		return nil
	}
	for _, k := range []struct {
		name  string
		value *int
	}{{"head_dim", c.HeadDim}, {"num_key_value_heads", c.KVHeads}, {"sliding_window", c.Window}} {
		if k.value == nil {
			return fmt.Errorf("%s is missing: %s has a default for it in its code, so write it into the file",
				k.name, c.ModelType)
		}
	}
	return nil
}

// gemma3 reports whether the file is of a model with defaults in its code.
func (c *config) gemma3() bool { return c.ModelType == "gemma3" || c.ModelType == "gemma3_text" }

func (c *config) model() (*Model, error) {
	if err := c.supported(); err != nil {
		return nil, err
	}
	for _, k := range []struct {
		name  string
		value *int
	}{{"num_hidden_layers", c.Layers}, {"hidden_size", c.Hidden}, {"num_attention_heads", c.Heads}} {
		if k.value == nil || *k.value < 1 {
			return nil, fmt.Errorf("%s is missing or not above 0, and without it the size of the cache is unknown",
				k.name)
		}
		if *k.value > maxCount { // before a list of this many layers is made
			return nil, fmt.Errorf("%s is %d: a model has at most %d", k.name, *k.value, maxCount)
		}
	}
	m := &Model{
		Layers: *c.Layers, Hidden: *c.Hidden, Heads: *c.Heads, KVHeads: or(c.KVHeads, *c.Heads),
		Intermediate: or(c.Intermediate, 0),
	}
	m.HeadDim = or(c.HeadDim, m.Hidden/m.Heads)
	if c.LatentRank != nil {
		m.MLA = &Latent{
			Rank: *c.LatentRank, Rope: or(c.Rope, 0), Nope: or(c.Nope, 0), ValueDim: or(c.ValueDim, 0),
			Query: or(c.QueryRank, 0),
		}
	}
	c.experts(m)
	if err := c.windows(m); err != nil {
		return nil, err
	}
	name := c.TorchDType
	if c.DType != "" {
		name = c.DType // the name of torch_dtype since transformers 4.56
	}
	if name == "" {
		name = "bfloat16"
	}
	var err error
	m.DType, err = ParseDType(name)
	return m, err
}

func (c *config) experts(m *Model) {
	count := max(or(c.NumExperts, 0), or(c.LocalExperts, 0), or(c.RoutedExperts, 0))
	if count < 2 {
		return
	}
	m.Experts = &Experts{
		Count: count, Active: or(c.ActiveExperts, 0), Shared: or(c.SharedExperts, 0),
		Width: or(c.ExpertWidth, m.Intermediate), Dense: or(c.DenseLayers, 0),
	}
}

// windows finds the layers with a sliding window: newer files list the type of each layer; for older ones the model's
// code decides.
func (c *config) windows(m *Model) error {
	window := or(c.Window, 0)
	if c.LayerTypes != nil {
		return c.listed(m, window)
	}
	// Some files have a window that is off: Qwen2 and Qwen3 have use_sliding_window, others a window of 0 or null.
	if window == 0 || c.UseWindow != nil && !*c.UseWindow ||
		c.UseWindow == nil && strings.HasPrefix(c.ModelType, "qwen") {
		return nil
	}
	m.Window, m.Windows = window, make([]bool, m.Layers)
	every := or(c.WindowPattern, 0) // one in every layers attends to all tokens
	switch {
	case c.ModelType == "gemma2" || c.ModelType == "gpt_oss":
		every = 2
	case c.gemma3():
		every = or(c.WindowPattern, 6)
	}
	if every < 0 {
		return fmt.Errorf("sliding_window_pattern is %d", every)
	}
	for i := range m.Windows {
		m.Windows[i] = (every == 0 || (i+1)%every != 0) && (c.UseWindow == nil || i >= or(c.MaxWindow, 0))
	}
	return nil
}

func (c *config) listed(m *Model, window int) error {
	if len(c.LayerTypes) != m.Layers {
		return fmt.Errorf("layer_types has %d entries for %d layers", len(c.LayerTypes), m.Layers)
	}
	windows := make([]bool, m.Layers)
	some := false
	for i, kind := range c.LayerTypes {
		switch kind {
		case "full_attention":
		case "sliding_attention":
			windows[i], some = true, true
		default:
			return fmt.Errorf("layer %d is of type %q, and what it keeps is no keys and values of every token", i, kind)
		}
	}
	if some && window < 1 {
		return errors.New("layer_types has layers with a sliding window, and sliding_window is not above 0")
	}
	if some {
		m.Window, m.Windows = window, windows
	}
	return nil
}

func or(value *int, otherwise int) int {
	if value == nil {
		return otherwise
	}
	return *value
}
