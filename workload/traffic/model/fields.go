package model

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Field is a named value of a Spec. The flags of weir matgen and the keys of generate in a scenario are made from
// fields.
type Field struct {
	Name string // key; the flag has dashes instead of underscores
	Type string // placeholder of the value: NAME, FILE, N …; "bool" is true or false
	Doc  string
	// Values are the possible words; nil: any. Spec.Patterns validates them, as it accepts other spellings.
	Values []string

	distribution bool            // no effect with a trace, which has the requests
	value        func(*Spec) any // a pointer into it
}

// sizeText is the text of a size.
type sizeText string

// Types of several fields.
const (
	Bool  = "bool"
	Count = "N"
)

var fields = []Field{
	{
		Name: "model", Type: "NAME", Values: Names(),
		Doc:   "public model, as llama-405b, qwen3-30b-a3b, deepseek-r1 or gpt-oss-120b",
		value: func(s *Spec) any { return &s.model },
	},
	{
		Name: "config", Type: "FILE", Doc: "config.json of Hugging Face, in place of the name of a model",
		value: func(s *Spec) any { return &s.config },
	},
	{
		Name: "kv_dtype", Type: "TYPE", Values: DTypes(),
		Doc:   "numbers in the KV cache: bfloat16, float16, float32, fp8 or int8 (default that of the model)",
		value: func(s *Spec) any { return &s.kv },
	},
	{
		Name: "no_windows", Type: Bool, Doc: "keep all tokens in layers with a sliding window, as engines do if their transfers ignore windows",
		value: func(s *Spec) any { return &s.keepAll },
	},
	{
		Name: "requests", Type: Count, Doc: "number of requests; of a trace the most to read (default: all)",
		value: func(s *Spec) any { return &s.requests },
	},
	{
		Name: "isl", Type: "DISTRIBUTION", Doc: "tokens of prompts: fixed:N, uniform:A,B, normal:MEAN,DEVIATION or lognormal:MEAN,DEVIATION",
		distribution: true, value: func(s *Spec) any { return &s.isl },
	},
	{
		Name: "min_isl", Type: "TOKENS", Doc: "shortest prompt of a normal or lognormal distribution",
		distribution: true, value: func(s *Spec) any { return &s.minISL },
	},
	{
		Name: "max_isl", Type: "TOKENS", Doc: "longest prompt of a normal or lognormal distribution",
		distribution: true, value: func(s *Spec) any { return &s.maxISL },
	},
	{
		Name: "osl", Type: "DISTRIBUTION", Doc: "tokens of answers, a distribution as isl, at most 2^24 (default none; they move nothing, but are in the metadata)",
		distribution: true, value: func(s *Spec) any { return &s.osl },
	},
	{
		Name: "trace", Type: "FILE", Doc: "requests with their times, Mooncake's JSON lines or Azure's CSV, in place of distributions",
		value: func(s *Spec) any { return &s.trace },
	},
	{
		Name: "seed", Type: "SEED", Doc: "seed of the lengths", distribution: true,
		value: func(s *Spec) any { return &s.seed },
	},
	{
		Name: "prefill_nodes", Type: Count, Doc: "nodes that prefill",
		value: func(s *Spec) any { return &s.prefillNodes },
	},
	{Name: "decode_nodes", Type: Count, Doc: "nodes that decode", value: func(s *Spec) any { return &s.decodeNodes }},
	{Name: "gpus_per_node", Type: Count, Doc: "ranks of a node", value: func(s *Spec) any { return &s.gpus }},
	{
		Name: "prefill_tp", Type: Count, Doc: "tensor parallelism of a prefill worker, in ranks",
		value: func(s *Spec) any { return &s.prefill.TP },
	},
	{
		Name: "prefill_pp", Type: Count, Doc: "pipeline parallelism of a prefill worker, in stages",
		value: func(s *Spec) any { return &s.prefill.PP },
	},
	{
		Name: "prefill_cp", Type: Count, Doc: "context parallelism of a prefill worker, in ranks",
		value: func(s *Spec) any { return &s.prefill.CP },
	},
	{
		Name: "decode_tp", Type: Count, Doc: "tensor parallelism of a decode worker, in ranks",
		value: func(s *Spec) any { return &s.decode.TP },
	},
	{
		Name: "decode_pp", Type: Count, Doc: "pipeline parallelism of a decode worker, in stages",
		value: func(s *Spec) any { return &s.decode.PP },
	},
	{
		Name: "decode_cp", Type: Count, Doc: "context parallelism of a decode worker, in ranks",
		value: func(s *Spec) any { return &s.decode.CP },
	},
	{
		Name: "rail_optimized", Type: Bool, Doc: "order the ranks of decode workers so that senders and receivers have the same index in their groups",
		value: func(s *Spec) any { return &s.rail },
	},
	{Name: "batch_size", Type: Count, Doc: "prompts of a batch", value: func(s *Spec) any { return &s.batch }},
	{
		Name: "max_batch_memory", Type: "SIZE", Doc: "KV cache above which a batch is closed",
		value: func(s *Spec) any { return &s.maxBatch },
	},
	{
		Name: "sleep", Type: "RULE", Values: Rules(),
		Doc:   "rule for the time of a prefill: published, full (all matrices, causal mask) or none",
		value: func(s *Spec) any { return &s.sleep },
	},
	{
		Name: "flops", Type: "FLOPS", Doc: "operations per second of a GPU, as 400e12",
		value: func(s *Spec) any { return &s.flops },
	},
	{
		Name: "bytes_scale", Type: "FACTOR", Doc: "factor of the bytes of all cells, at least 1 byte, as 0.001 for a rehearsal on one machine; it is in the metadata",
		value: func(s *Spec) any { return &s.scale },
	},
}

// Fields returns all fields in the order of the documentation.
func Fields() []Field { return fields }

// Default returns the default value of the field; "" if there is none, or it is false.
func (f Field) Default() string {
	text := f.text(NewSpec())
	if text == "false" || text == "0" {
		return ""
	}
	return text
}

func (f Field) text(s *Spec) string {
	switch p := f.value(s).(type) {
	case *string:
		return *p
	case *sizeText:
		return string(*p)
	case *float64:
		return strings.Replace(strconv.FormatFloat(*p, 'g', -1, 64), "e+", "e", 1)
	case *int:
		return strconv.Itoa(*p)
	case *uint64:
		return strconv.FormatUint(*p, 10)
	case *bool:
		return strconv.FormatBool(*p)
	}
	panic("matgen: field " + f.Name + " has a type of its own")
}

// set parses a value by the type of the field.
func (f Field) set(s *Spec, text string) (err error) {
	digits := strings.ReplaceAll(text, "_", "")
	switch p := f.value(s).(type) {
	case *string:
		*p = text
	case *sizeText:
		_, err = quantity.ParseSize(text)
		*p = sizeText(text)
	case *float64:
		if *p, err = strconv.ParseFloat(digits, 64); err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
	case *int:
		if *p, err = strconv.Atoi(digits); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
	case *uint64:
		if *p, err = strconv.ParseUint(digits, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number from 0", text)
		}
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*p = text == "true"
	}
	return err
}
