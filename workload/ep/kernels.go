package ep

import (
	"errors"
	"fmt"
	"strings"

	"weir/fabric"
)

// What the kernels of dispatch and combine can do: ep_args.h of the engine has the same.
const (
	mostKernelRanks    = 16
	mostKernelExperts  = 1024
	mostKernelSelected = 32
	mostKernelChannels = 32768
	mostKernelCount    = 1<<16 - 1 // selections of a rank
)

const ofKernelsAtMost = "kernels of vram have at most"

// VRAM says whether tokens and rows are in the memory of GPUs, where kernels move them.
func (s *Spec) VRAM() bool { return s.Memory == fabric.VRAM }

// Pulls says whether the rows of a combine stay in their rank's sink, where the owners of tokens
// read them: kernels do, where each selection has a row of its own.
func (s *Spec) Pulls() bool {
	return s.VRAM() && s.Layout == "message" && !s.Pushes && !fabric.Simulated(s.Fabric)
}

// CheckKernels says what of a case kernels cannot do, of a group that an option says in these words. Each reason
// names the options that it is about, and no other: the planner points at them.
func (s *Spec) CheckKernels(group string) error {
	experts, most := s.Ranks*s.PerRank, ofKernelsAtMost
	switch {
	case !s.VRAM():
		return nil
	case strings.HasPrefix(s.KernelLaunch, "graph") && s.Timing != "stream":
		return fmt.Errorf("kernel_launch %s launches all timed iterations at once, "+
			"which timing aligned does not: use timing stream", s.KernelLaunch)
	case s.Caches == "flushed" && s.Timing != "aligned":
		return errors.New("caches are flushed before each iteration, which timing stream does not wait for: use timing aligned")
	case s.Ranks > mostKernelRanks:
		return fmt.Errorf("%s: %s %d ranks", group, most, mostKernelRanks)
	case experts > mostKernelExperts:
		return fmt.Errorf("%s with experts_per_rank %d: %s %d experts of all ranks, not %d", group, s.PerRank, most,
			mostKernelExperts, experts)
	case s.Routes.TopK > mostKernelSelected:
		return fmt.Errorf("top_k %d: %s %d experts of a token", s.Routes.TopK, most, mostKernelSelected)
	case s.Hidden > mostKernelChannels:
		return fmt.Errorf("hidden %d: %s %d channels", s.Hidden, most, mostKernelChannels)
	}
	return s.checkSelections(s.Routes.Tokens.Most)
}

// checkSelections says whether kernels can count the selections of a rank with so many tokens.
func (s *Spec) checkSelections(tokens int) error {
	selections := int64(tokens) * int64(s.Routes.TopK)
	if !s.VRAM() || selections <= mostKernelCount {
		return nil
	}
	return fmt.Errorf("tokens %d with top_k %d: %s %d selections of a rank, not %d", tokens, s.Routes.TopK,
		ofKernelsAtMost, mostKernelCount, selections)
}

// group says the ranks.
func (s *Spec) group() string { return fmt.Sprintf("ranks %d", s.Ranks) }

// lacks says what of a case a fabric cannot do.
func (s *Spec) lacks(name string) string {
	if why := s.LacksKernels("ep", name); why != "" {
		return why
	}
	return s.Moves().Lacks(name)
}

// LacksKernels says that a fabric has no kernels for what a workload has in the memory of GPUs.
func (s *Spec) LacksKernels(workload, name string) string {
	if !s.VRAM() || name == "cuda" || name == fabric.AutoName {
		return ""
	}
	return "workload " + workload + " moves memory of GPUs by kernels of fabric cuda, and not over fabric " + name
}

// fabricOptions are those of the fabric as the engine has them.
func (s *Spec) fabricOptions() fabric.Options {
	if !s.VRAM() {
		return s.FabricOptions
	}
	return KernelOptions(s.FabricOptions)
}

// KernelOptions are options of a fabric for kernels, which store; of fabric auto too, which takes cuda.
func KernelOptions(given fabric.Options) fabric.Options {
	return given.With(fabric.Options{Engine: "sm"})
}

// kernelMetrics adds what is measured beside the instants of kernels, of the slowest rank.
func kernelMetrics(m map[string]float64, s *Spec, parts []*Part) {
	if !s.VRAM() || s.Timing != "stream" {
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
