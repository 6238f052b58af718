package transfer

import (
	"slices"
	"strings"

	"weir/fabric"
	"weir/workload"
)

// ofPosting says whether a metric is of posting requests.
func ofPosting(metric string) bool { return strings.HasPrefix(metric, "post.") }

// unmeasured says which option rules a metric out.
func unmeasured(v workload.Values, metric string) string {
	t, err := Decode(v)
	switch {
	case err != nil:
		return "" // which is said of the options
	case ofPosting(metric):
		return t.PostsNothing()
	case metric == "prep.request" && t.Mode == "pingpong" && t.NoStage("prep.request.p99") != "":
		return "a ping-pong makes no requests over this fabric"
	}
	return t.NoStage(metric)
}

func unmeasuredBy(metric string) []string {
	if !ofPosting(metric) && metric != "prep.request" && !fabric.OfStage(metric) {
		return nil
	}
	return slices.Concat([]string{"fabric", "mode", "block_size", "initiator", "target"}, fabric.CheckedOptions(false))
}
