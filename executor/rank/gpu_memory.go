package rank

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/steady"
)

// gpuMemoryEvery is the time between samples of the memory of GPUs.
const gpuMemoryEvery = 250 * time.Millisecond

// GPUMemoryMain prints the memory in use of all GPUs again and again, a line for each sample, as
// "TIME BUS=BYTES BUS=BYTES", and returns an exit status if that fails. It runs in a process of its own until it is
// killed, because vendors' libraries cannot be unloaded.
func GPUMemoryMain(w io.Writer) int {
	return sampleGPUMemory(w, engine.DefaultProber, func() bool { time.Sleep(gpuMemoryEvery); return true })
}

func sampleGPUMemory(w io.Writer, prober func() (engine.Prober, error), next func() bool) int {
	clock := steady.New(time.Time{})
	e, err := prober()
	for again := err == nil; again; again = next() {
		h, ok := e.(engine.HostProber)
		if !ok {
			err = fmt.Errorf("this build of weir asks no GPUs")
			break
		}
		used, reason := h.GPUMemory()
		if reason != "" {
			err = fmt.Errorf("%s", reason)
			break
		}
		line := clock.Now().Format(logwatch.StampLayout)
		for _, g := range used {
			line += fmt.Sprintf(" %s=%d", g.Bus, g.Used)
		}
		if _, err = fmt.Fprintln(w, line); err != nil {
			break
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 6
	}
	return 0
}

// MostGPUMemory returns the most bytes that a GPU had in use in a line of GPUMemoryMain; negative: it has none.
func MostGPUMemory(line string) int64 {
	most := int64(-1)
	for word := range strings.FieldsSeq(line) {
		var used int64
		if _, text, ok := strings.Cut(word, "="); ok {
			if _, err := fmt.Sscan(text, &used); err == nil {
				most = max(most, used)
			}
		}
	}
	return most
}
