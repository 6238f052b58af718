package epelastic

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

// changing are the options that change the group of a case.
var changing = []string{"phase", "phases", "plan"}

// Unmeasured says why a case lacks a metric.
func (behaviour) Unmeasured(v option.Values, metric string) string {
	s, err := Decode(v)
	if err != nil || s == nil || s.Phase >= int64(len(s.Phases)) {
		return "" // the options are invalid, which is reported elsewhere
	}
	i := int(s.Phase)
	joined, left, lost := len(s.Phases.Joined(i)) > 0, len(s.Phases.Left(i)) > 0, len(s.Phases[i].Lost()) > 0
	switch family, _, _ := strings.Cut(metric, "."); {
	case metric == "kernels.stop" && !s.kernelsSend():
		return "only kernels that wait for peers (memory vram with initiated device) have it"
	case family == "scale_up" && !joined:
		return fmt.Sprintf("no rank joins in phase %d", i)
	case family == "scale_down" && !left:
		return fmt.Sprintf("no rank leaves in phase %d", i)
	case (family == "kernels" || family == "detect" || family == "recover") && !lost:
		return fmt.Sprintf("no rank is killed or muted in phase %d", i)
	case (metric == "rate.before" || metric == "rate.during") && !joined && !left && !lost:
		return fmt.Sprintf("no rank joins, leaves or is lost in phase %d", i)
	}
	return ""
}

func (behaviour) UnmeasuredBy(metric string) []string {
	switch family, _, _ := strings.Cut(metric, "."); family {
	case "kernels":
		return append([]string{"fabric", "memory"}, changing...)
	case "scale_up", "scale_down", "detect", "recover", "rate":
		return changing
	}
	return nil
}
