package model

import (
	"fmt"
	"strings"
)

// huggingFace returns the address of a model's config.json.
func huggingFace(repository string) string {
	return "https://huggingface.co/" + repository + "/blob/main/config.json"
}

// models are public architectures. A test checks their numbers by the counts of parameters that follow from them.
var models = []*Model{
	llama("llama-8b", "meta-llama/Llama-3.1-8B", 32, 4096, 32, 14336),
	llama("llama-70b", "meta-llama/Llama-3.1-70B", 80, 8192, 64, 28672),
	llama("llama-405b", "meta-llama/Llama-3.1-405B", 126, 16384, 128, 53248),
	llama("deepseek-r1-distill-llama-70b", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", 80, 8192, 64, 28672),

	qwen3("qwen3-0.6b", "Qwen/Qwen3-0.6B", 28, 1024, 16, 8, 3072, nil),
	qwen3("qwen3-1.7b", "Qwen/Qwen3-1.7B", 28, 2048, 16, 8, 6144, nil),
	qwen3("qwen3-4b", "Qwen/Qwen3-4B", 36, 2560, 32, 8, 9728, nil),
	qwen3("qwen3-8b", "Qwen/Qwen3-8B", 36, 4096, 32, 8, 12288, nil),
	qwen3("qwen3-14b", "Qwen/Qwen3-14B", 40, 5120, 40, 8, 17408, nil),
	qwen3("qwen3-32b", "Qwen/Qwen3-32B", 64, 5120, 64, 8, 25600, nil),
	qwen3("qwen3-30b-a3b", "Qwen/Qwen3-30B-A3B", 48, 2048, 32, 4, 6144, &Experts{Count: 128, Active: 8, Width: 768}),
	qwen3("qwen3-235b-a22b", "Qwen/Qwen3-235B-A22B", 94, 4096, 64, 4, 12288,
		&Experts{Count: 128, Active: 8, Width: 1536}),
	qwen3("qwen3-coder-480b-a35b", "Qwen/Qwen3-Coder-480B-A35B-Instruct", 62, 6144, 96, 8, 8192,
		&Experts{Count: 160, Active: 8, Width: 2560}),

	deepseekV3("deepseek-v3", "deepseek-ai/DeepSeek-V3"),
	deepseekV3("deepseek-r1", "deepseek-ai/DeepSeek-R1"),

	gptOSS("gpt-oss-20b", "openai/gpt-oss-20b", 24, 32),
	gptOSS("gpt-oss-120b", "openai/gpt-oss-120b", 36, 128),
}

// renamed maps names of the published generator to the names of models here.
var renamed = map[string]string{"qwen3-30b": "qwen3-30b-a3b"}

// llama is a model of the Llama 3.1 family (arXiv:2407.21783, table 3).
func llama(name, repository string, layers, hidden, heads, intermediate int) *Model {
	return &Model{
		Name: name, Source: huggingFace(repository), Layers: layers, Hidden: hidden, Heads: heads, KVHeads: 8,
		HeadDim:      128,
		Intermediate: intermediate, DType: "bfloat16",
	}
}

// qwen3 is a model of the Qwen3 family (arXiv:2505.09388, tables 1 and 2). Its
// heads have size 128 whatever the hidden size is.
func qwen3(name, repository string, layers, hidden, heads, kvHeads, intermediate int, experts *Experts) *Model {
	return &Model{
		Name: name, Source: huggingFace(repository), Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kvHeads,
		HeadDim:      128,
		Intermediate: intermediate, Experts: experts, DType: "bfloat16",
	}
}

// deepseekV3 is DeepSeek-V3 (arXiv:2412.19437, section 4.2), of which R1 has the
// architecture. The module for multi-token prediction is not counted. Weights are
// fp8; the engines cache bfloat16 unless they are told otherwise.
func deepseekV3(name, repository string) *Model {
	return &Model{
		Name: name, Source: huggingFace(repository), Layers: 61, Hidden: 7168, Heads: 128, KVHeads: 128,
		MLA:          &Latent{Rank: 512, Rope: 64, Nope: 128, ValueDim: 128, Query: 1536},
		Intermediate: 18432, Experts: &Experts{Count: 256, Active: 8, Shared: 1, Width: 2048, Dense: 3},
		DType: "bfloat16",
	}
}

// gptOSS is a model of the gpt-oss family (arXiv:2508.10925, section 2): every
// other layer, from the first, attends to the last 128 tokens.
func gptOSS(name, repository string, layers, experts int) *Model {
	return &Model{
		Name: name, Source: huggingFace(repository), Layers: layers, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64,
		Window: 128, Windows: everyOther(layers), Intermediate: 2880,
		Experts: &Experts{Count: experts, Active: 4, Width: 2880}, DType: "bfloat16",
	}
}

// everyOther returns layers of which every second one has a window, beginning with the first.
func everyOther(layers int) []bool {
	out := make([]bool, layers)
	for i := range out {
		out[i] = i%2 == 0
	}
	return out
}

// Names returns the names of the models of the table.
func Names() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return names
}

// Lookup finds a model of the table by its name, in any case.
func Lookup(name string) (*Model, error) {
	wanted := strings.ToLower(name)
	if other, ok := renamed[wanted]; ok {
		wanted = other
	}
	for _, m := range models {
		if m.Name == wanted {
			return m, nil
		}
	}
	return nil, fmt.Errorf("unknown model %q", name)
}

// sentence joins words with commas and "and".
func sentence(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
