package rank

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

// gpus is a prober with GPUs that use more at each sample.
type gpus struct {
	asked  int64
	reason string
}

func (*gpus) Probe([]string) map[string]results.Fabric { return nil }
func (*gpus) StampClock() string                       { return "" }
func (*gpus) GPUs() ([]results.GPU, string)            { return nil, "" }
func (g *gpus) GPUMemory() ([]engine.GPUMemory, string) {
	g.asked++
	return []engine.GPUMemory{{Bus: "0000:41:00.0", Used: 7}, {Bus: "0000:81:00.0", Used: 1000 * g.asked}}, g.reason
}

func TestGPUMemoryIsSampled(t *testing.T) {
	var out strings.Builder
	g := &gpus{}
	code := sampleGPUMemory(&out, func() (engine.Prober, error) { return g, nil }, func() bool { return g.asked < 3 })
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	form := regexp.MustCompile(`^20\d\d-\S+Z 0000:41:00\.0=7 0000:81:00\.0=1000$`)
	if code != 0 || len(lines) != 3 || !form.MatchString(lines[0]) {
		t.Errorf("%d, %q", code, lines)
	}
	none := sampleGPUMemory(&out, func() (engine.Prober, error) { return &gpus{reason: "no driver"}, nil },
		func() bool { return false })
	if none != 6 {
		t.Errorf("without a driver it ends with %d", none)
	}
}

func TestMostGPUMemory(t *testing.T) {
	for line, want := range map[string]int64{
		"2026-11-30T10:00:00.000000Z 0000:41:00.0=7 0000:81:00.0=1000\n": 1000,
		"2026-11-30T10:00:00.000000Z 0000:41:00.0=0":                     0,
		"2026-11-30T10:00:00.000000Z":                                    -1,
		"\x00\x00\x00":                                                   -1,
		"a=b":                                                            -1,
	} {
		if got := MostGPUMemory(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}
