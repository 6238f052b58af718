package transfer

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
)

// ofPosting reports whether a metric is of posting requests.
func ofPosting(metric string) bool { return strings.HasPrefix(metric, "post.") }

// Unmeasured says why a case lacks a metric.
func (behaviour) Unmeasured(v option.Values, metric string) string {
	t, err := Decode(v)
	switch {
	case err != nil:
		return "" // the options are invalid, which is reported elsewhere
	case ofPosting(metric):
		return t.PostsNothing()
	case metric == "prep.request" && t.Mode == "pingpong" && t.NoStage("prep.request.p99") != "":
		return "a ping-pong makes no requests over this fabric"
	}
	return t.NoStage(metric)
}

func (behaviour) UnmeasuredBy(metric string) []string {
	if !ofPosting(metric) && metric != "prep.request" && !fabric.OfStage(metric) {
		return nil
	}
	return slices.Concat([]string{"fabric", "mode", "block_size", "initiator", "target"}, fabric.CheckedOptions(false))
}
