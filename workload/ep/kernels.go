package ep

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
)

// Limits of the kernels of dispatch and combine, as in kernels_ep_args.h of the engine.
const (
	maxKernelRanks    = 16
	maxKernelExperts  = 1024
	maxKernelSelected = 32
	maxKernelChannels = 32768
	maxKernelCount    = 1<<16 - 1 // selections of a rank
)

const byHost = "host"

// Initiated is the option for who starts the puts of GPU memory. Kernels do so over fabric cuda, which auto chooses.
func Initiated() option.Option {
	o := of("memory", fabric.VRAM, option.EnumOption("initiated", byHost, "device"))
	o.Process = true
	o.DefaultBy = &option.DefaultBy{Option: "fabric", Values: map[string]any{}}
	for _, f := range fabric.All {
		if f.Name == "cuda" || f.Simulated {
			o.DefaultBy.Values[f.Name] = "device"
		}
	}
	o.DefaultBy.Values[fabric.AutoName] = "device"
	return o
}

const ofKernelsAtMost = "kernels of vram have at most"

// VRAM reports whether tokens and rows are in GPU memory, where kernels move them.
func (s *Spec) VRAM() bool { return s.Memory == fabric.VRAM }

// Posts reports whether the host posts the puts of what kernels make in GPU memory.
func (s *Spec) Posts() bool { return s.VRAM() && s.Initiated == byHost }

// sentByKernels reports whether kernels send, and find the places of messages themselves.
func (s *Spec) sentByKernels() bool { return s.VRAM() && !s.Posts() }

// Pulls reports whether the rows of a combine stay in their rank's sink, where the owners of tokens read them. Kernels
// do so if each selection has its own row.
func (s *Spec) Pulls() bool {
	return s.sentByKernels() && s.Layout == "message" && !s.Pushes && !fabric.Simulated(s.Fabric)
}

// CheckKernels checks the limits of kernels for a group, described by option texts. Errors name only the options
// involved: the planner points at them.
func (s *Spec) CheckKernels(group string) error {
	experts, most := s.Ranks*s.PerRank, ofKernelsAtMost
	switch {
	case !s.VRAM():
		return nil
	case s.Posts() && s.KernelLaunch != "" && s.KernelLaunch != "each":
		return fmt.Errorf("kernel_launch %s enqueues kernels ahead, and with initiated host each put waits for the host: "+
			"use kernel_launch each", s.KernelLaunch)
	case strings.HasPrefix(s.KernelLaunch, "graph") && s.Timing != "stream":
		return fmt.Errorf("kernel_launch %s launches all timed iterations at once, but "+
			"timing aligned launches each: use timing stream", s.KernelLaunch)
	case s.Caches == "flushed" && s.Timing != "aligned":
		return errors.New("caches flushed needs a flush before each iteration, for which timing stream does not wait: use timing aligned")
	case s.Ranks > maxKernelRanks:
		return fmt.Errorf("%s: %s %d ranks", group, most, maxKernelRanks)
	case experts > maxKernelExperts:
		return fmt.Errorf("%s with experts_per_rank %d: %s %d experts of all ranks, not %d", group, s.PerRank, most,
			maxKernelExperts, experts)
	case s.Routes.TopK > maxKernelSelected:
		return fmt.Errorf("top_k %d: %s %d experts of a token", s.Routes.TopK, most, maxKernelSelected)
	case s.Hidden > maxKernelChannels:
		return fmt.Errorf("hidden %d: %s %d channels", s.Hidden, most, maxKernelChannels)
	}
	return s.checkSelections(s.Routes.Tokens.Most)
}

// checkSelections checks that kernels can count the selections of a rank with this many tokens.
func (s *Spec) checkSelections(tokens int) error {
	selections := int64(tokens) * int64(s.Routes.TopK)
	if !s.VRAM() || selections <= maxKernelCount {
		return nil
	}
	return fmt.Errorf("tokens %d with top_k %d: %s %d selections of a rank, not %d", tokens, s.Routes.TopK,
		ofKernelsAtMost, maxKernelCount, selections)
}

// group describes the ranks by their option.
func (s *Spec) group() string { return fmt.Sprintf("ranks %d", s.Ranks) }

// lacks says which needs of a case a fabric cannot meet; "" if it meets all.
func (s *Spec) lacks(name string) string {
	if why := s.LacksKernels("ep", name); why != "" {
		return why
	}
	return s.Moves().Lacks(name)
}

// LacksKernels says that a fabric has no kernels that send for a workload in GPU memory; "" if it has.
func (s *Spec) LacksKernels(workload, name string) string {
	if !s.sentByKernels() || name == "cuda" || name == fabric.AutoName || fabric.Simulated(name) {
		return ""
	}
	why := missingDeviceAPI[name]
	if s.Fabric == fabric.AutoName || why == "" {
		why = "kernels send over fabric cuda only"
	}
	return fmt.Sprintf("initiated device of workload %s over fabric %s: %s; with initiated host the host posts the puts",
		workload, name, why)
}

// missingDeviceAPI says what kernels that send over a network lack.
var missingDeviceAPI = map[string]string{
	"ucx":       "UCX's device API (since 1.20) needs headers of its transports, which its packages lack",
	"nixl":      "NIXL's device API is in C++ headers over that of UCX, whose packages lack headers of its transports",
	"libfabric": "libfabric has no device API",
}

// fabricOptions returns the options of the fabric for the engine.
func (s *Spec) fabricOptions() fabric.Options {
	if !s.sentByKernels() {
		return s.FabricOptions
	}
	return KernelOptions(s.FabricOptions)
}

// KernelOptions returns the options of a fabric for kernels, which store. Fabric auto resolves to cuda.
func KernelOptions(given fabric.Options) fabric.Options {
	return given.With(fabric.Options{Engine: "sm"})
}

// kernelMetrics adds metrics besides the timestamps of kernels, of the slowest rank.
func kernelMetrics(m map[string]float64, s *Spec, parts []*Part) {
	if s.Posts() {
		hostMetrics(m, parts)
	}
	if !s.sentByKernels() || s.Timing != "stream" {
		return
	}
	for _, p := range parts {
		each := float64(max(1, len(p.Iterations)))
		for name, took := range map[string]float64{"latency.events": p.Events, "latency.wall": p.Wall} {
			if took > 0 {
				m[name] = max(m[name], took/each)
			}
		}
	}
}

// hostMetrics adds what the host's part in moving GPU memory takes: mean times of a rank in an iteration.
func hostMetrics(m map[string]float64, parts []*Part) {
	for _, p := range parts {
		each := float64(max(1, len(p.Iterations)) * len(parts))
		m["phase.post"] += p.Spent.Post / each
		m["phase.kernel"] += p.Spent.Kernel / each
		m["phase.launch"] += p.Spent.Launch / each
	}
}
