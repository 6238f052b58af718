package epelastic

import (
	"fmt"
	"strings"

	"weir/workload"
)

// changing are the options that say how the group of a case changes.
var changing = []string{"phase", "phases", "plan"}

// unmeasured says which option rules a metric out.
func unmeasured(v workload.Values, metric string) string {
	s, err := Decode(v)
	if err != nil || s == nil || s.Phase >= int64(len(s.Phases)) {
		return "" // which is said of the options
	}
	i := int(s.Phase)
	joined, left, lost := len(s.Phases.Joined(i)) > 0, len(s.Phases.Left(i)) > 0, len(s.Phases[i].Lost()) > 0
	switch family, _, _ := strings.Cut(metric, "."); {
	case metric == "kernels.stop" && !s.VRAM():
		return "it is of kernels, which move memory vram"
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

func unmeasuredBy(metric string) []string {
	switch family, _, _ := strings.Cut(metric, "."); family {
	case "kernels":
		return append([]string{"fabric", "memory"}, changing...)
	case "scale_up", "scale_down", "detect", "recover", "rate":
		return changing
	}
	return nil
}
