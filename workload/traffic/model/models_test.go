package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
)

// parameters returns the number of weights that follow from a model's numbers, for a vocabulary with its matrix counted
// once or twice.
func parameters(m *Model, vocabulary, times int) float64 {
	all := *m
	if m.Experts != nil {
		e := *m.Experts
		e.Active = e.Count
		all.Experts = &e
	}
	return all.activeWeights() + float64(vocabulary*times*m.Hidden)
}

// The published parameters of each model (model cards, in billions) depend on every relevant number of the table: a
// wrong layer, head or width shows.
func TestNumbersOfTheTableGiveThePublishedParameters(t *testing.T) {
	published := map[string]struct {
		billions   float64
		vocabulary int
		times      int
		active     float64 // billions; 0: dense
	}{
		"llama-8b": {8.03, 128256, 2, 0}, "llama-70b": {70.55, 128256, 2, 0}, "llama-405b": {405.85, 128256, 2, 0},
		"deepseek-r1-distill-llama-70b": {70.55, 128256, 2, 0},

		"qwen3-0.6b": {0.596, 151936, 1, 0}, "qwen3-1.7b": {1.72, 151936, 1, 0}, "qwen3-4b": {4.02, 151936, 1, 0},
		"qwen3-8b":  {8.19, 151936, 2, 0},
		"qwen3-14b": {14.77, 151936, 2, 0}, "qwen3-32b": {32.76, 151936, 2, 0},
		"qwen3-30b-a3b": {30.53, 151936, 2, 3.3}, "qwen3-235b-a22b": {235.09, 151936, 2, 22},
		"qwen3-coder-480b-a35b": {480.15, 151936, 2, 35},
		"deepseek-v3":           {671.03, 129280, 2, 37}, "deepseek-r1": {671.03, 129280, 2, 37},
		"gpt-oss-20b": {20.91, 201088, 2, 3.6}, "gpt-oss-120b": {116.83, 201088, 2, 5.1},
	}
	for _, m := range models {
		want, ok := published[m.Name]
		if !ok {
			t.Errorf("no published number for %s", m.Name)
			continue
		}
		if got := parameters(m, want.vocabulary, want.times) / 1e9; math.Abs(got/want.billions-1) > 0.005 {
			t.Errorf("%s has %.2f billion parameters, published are %.2f", m.Name, got, want.billions)
		}
		active := (m.activeWeights() + float64(want.vocabulary*m.Hidden)*2) / 1e9
		// model cards differ in whether they count embeddings
		if want.active > 0 && math.Abs(active/want.active-1) > 0.2 {
			t.Errorf("%s has %.2f billion active parameters, published are %.1f", m.Name, active, want.active)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if !strings.HasPrefix(m.Source, "https://huggingface.co/") || !strings.HasSuffix(m.Source, "/config.json") {
			t.Errorf("%s is from %q", m.Name, m.Source)
		}
	}
}

func TestBytesPerToken(t *testing.T) {
	for name, want := range map[string]int64{
		"llama-8b": 131072, "llama-70b": 327680, "llama-405b": 516096, "deepseek-r1-distill-llama-70b": 327680,
		"qwen3-30b-a3b": 98304, "qwen3-30B": 98304, "deepseek-r1": 70272, "deepseek-v3": 70272, "qwen3-8b": 147456,
		"qwen3-235b-a22b": 192512,
		"gpt-oss-20b":     49152, "gpt-oss-120b": 73728,
	} {
		m, err := Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := m.KVBytes(1, m.DType); got != want {
			t.Errorf("%s: %d bytes for a token, want %d", name, got, want)
		}
		if half := m.KVBytes(1, "fp8"); half != want/2 {
			t.Errorf("%s: %d bytes for a token in fp8", name, half)
		}
	}
	if _, err := Lookup("llama-405"); err == nil {
		t.Error("an unknown model was found")
	}
}

// Half of the layers of gpt-oss keep 128 tokens only.
func TestWindowedLayersKeepTheirWindow(t *testing.T) {
	m, err := Lookup("gpt-oss-20b")
	if err != nil {
		t.Fatal(err)
	}
	perLayer := int64(8 * 64 * 2 * 2)
	for tokens, want := range map[int]int64{
		1: 24 * perLayer, 128: 24 * 128 * perLayer, 16000: 12 * (16000 + 128) * perLayer,
	} {
		if got := m.KVBytes(tokens, m.DType); got != want {
			t.Errorf("%d tokens: %d bytes, want %d", tokens, got, want)
		}
	}
	if got := m.WithoutWindows().KVBytes(16000, m.DType); got != 24*16000*perLayer {
		t.Errorf("without windows: %d bytes", got)
	}
	if m.Windows == nil {
		t.Error("the table was changed")
	}
}

// published are the presets of the original generator, correct or not.
func published(hidden, layers, heads, kvHeads int) *Model {
	return &Model{
		Hidden: hidden, Layers: layers, Heads: heads, KVHeads: kvHeads, HeadDim: hidden / heads,
		Intermediate: 4 * hidden, DType: "bfloat16",
	}
}

// The golden numbers of inference_workload_matgen: 16000 tokens, 8 prefill and 8 decode ranks.
func TestFormulasGiveThePublishedNumbers(t *testing.T) {
	worker := Parallel{TP: 8, PP: 1, CP: 1}
	for _, c := range []struct {
		m     *Model
		cell  string
		sleep float64
	}{
		{published(16384, 126, 128, 8), "984.38M", 37.404803072},
		{published(32768, 48, 32, 4), "1.46G", 51.405389824},
		{published(8192, 80, 64, 8), "625M", 7.102354773333333},
		{published(12288, 100, 96, 12), "1.14G", 17.790839466666668},
	} {
		if got := matrix.Rounded(c.m.KVBytes(16000, "bfloat16") / 8); got != c.cell {
			t.Errorf("%d layers: a cell is %s, want %s", c.m.Layers, got, c.cell)
		}
		if got := (Compute{Published, PublishedFLOPS}).Seconds(c.m, []Request{{ISL: 16000}},
			worker); math.Abs(got/c.sleep-1) > 1e-15 {
			t.Errorf("%d layers: the sleep is %v, want %v", c.m.Layers, got, c.sleep)
		}
	}
}

// A pass of a dense model takes two operations for each weight and token, and
// attention grows with the square.
func TestFullRuleCountsAllMatrices(t *testing.T) {
	m, err := Lookup("llama-8b")
	if err != nil {
		t.Fatal(err)
	}
	c := Compute{Full, 1e12}
	one := c.operations(m, 1)
	if weights := 6.98e9; math.Abs(one/(2*weights)-1) > 0.001 {
		t.Errorf("one token takes %.4g operations", one)
	}
	n := 32768.0
	quadratic := c.operations(m, int(n)) - n*2*m.activeWeights()
	if want := 2 * n * (n + 1) * 4096 * 32; math.Abs(quadratic/want-1) > 1e-9 {
		t.Errorf("attention takes %.6g operations, want %.6g", quadratic, want)
	}
}

// With windows as well: every token is multiplied with each that it attends to, itself included, once for its query and
// once for its value.
func TestFullRuleCountsWhatEachTokenSees(t *testing.T) {
	m := lookup(t, "gpt-oss-120b")
	const projections, experts = 2880 * 64 * (64 + 8 + 8 + 64), 2880 * (4*3*2880 + 128)
	for _, n := range []int{1, 2, 100, 127, 128, 129, 5000} {
		seen := 0
		for layer := range 36 {
			for position := range n {
				if before := position + 1; layer%2 == 0 {
					seen += min(before, 128)
				} else {
					seen += before
				}
			}
		}
		want := float64(seen)*64*64*2*2 + float64(n)*2*36*(projections+experts)
		if got := (Compute{Full, 1e12}).operations(m, n); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%d tokens take %.15g operations, want %.15g", n, got, want)
		}
	}
}

// The rule is 4·s²·H + 16·s·H² in each layer even if all heads of a query together differ from the hidden size H.
func TestPublishedRuleTakesTheHiddenSize(t *testing.T) {
	m := lookup(t, "qwen3-32b")
	const s, h, layers = 16000.0, 5120.0, 64
	if m.Heads*m.HeadDim == m.Hidden {
		t.Fatal("the heads divide the hidden size")
	}
	want := (4*s*s*h + 16*s*h*h) * layers
	if got := (Compute{Published, 1e12}).operations(m, s); math.Abs(got/want-1) > 1e-15 {
		t.Errorf("%.15g operations, want %.15g", got, want)
	}
}

// The published generator squares the sum of a batch and counts it once for each request; prompts do not attend to each
// other.
func TestBatchCostIsTheSumOfItsPrompts(t *testing.T) {
	m, err := Lookup("llama-70b")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []Rule{Published, Full} {
		c := Compute{rule, 1e15}
		a, b := Request{ISL: 1000}, Request{ISL: 50000}
		tp := Parallel{TP: 4, PP: 2, CP: 1}
		sum := c.Seconds(m, []Request{a}, tp) + c.Seconds(m, []Request{b}, tp)
		if got := c.Seconds(m, []Request{a, b}, tp); math.Abs(got/sum-1) > 1e-12 {
			t.Errorf("%s: %v s, its prompts take %v s", rule, got, sum)
		}
		if got := c.Seconds(m, []Request{a, b}, Parallel{TP: 4, PP: 2, CP: 2}); math.Abs(got/(sum/2)-1) > 1e-12 {
			t.Errorf("%s: context parallelism by two gives %v s", rule, got)
		}
	}
	if got := (Compute{Rule: None}).Seconds(m, []Request{{ISL: 5}}, Parallel{1, 1, 1}); got != 0 {
		t.Errorf("none sleeps %v s", got)
	}
}

func TestInvalidModelsAreRejected(t *testing.T) {
	for name, change := range map[string]func(m *Model){
		"no layers":       func(m *Model) { m.Layers = 0 },
		"heads":           func(m *Model) { m.KVHeads = 7 },
		"head size":       func(m *Model) { m.HeadDim = 0 },
		"latent":          func(m *Model) { m.MLA = &Latent{Rank: 512} },
		"experts":         func(m *Model) { m.Experts = &Experts{Count: 4, Active: 5, Width: 1} },
		"type":            func(m *Model) { m.DType = "fp4" },
		"windows":         func(m *Model) { m.Window, m.Windows = 128, []bool{true} },
		"no window":       func(m *Model) { m.Windows = everyOther(m.Layers) },
		"token of 1e12":   func(m *Model) { m.Layers, m.KVHeads, m.Heads, m.HeadDim = 1<<20, 1<<10, 1<<10, 1<<10 },
		"width of an MLP": func(m *Model) { m.Intermediate = -1 },
	} {
		m := *models[0]
		change(&m)
		if err := m.Check(); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
	if _, err := ParseDType("fp4"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", "fp4")) {
		t.Errorf("fp4: %v", err)
	}
}
