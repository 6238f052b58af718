package traffic

import (
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
)

// ofOwn is the metric of the bytes that ranks copy within their own memory.
const ofOwn = "bytes.own"

// Unmeasured says why a case lacks a metric.
func (behaviour) Unmeasured(v option.Values, metric string) string {
	if metric == ofOwn {
		if v["own_cells"] == option.OwnCopy {
			return ""
		}
		return "no rank copies its own cell: this needs a matrix with such cells, and own_cells copy"
	}
	get := Kind.Get(v)
	name, _ := get("fabric").(string)
	options, err := fabric.Read(name, get)
	if err != nil {
		return "" // the options are invalid, which is reported elsewhere
	}
	return fabric.NoStage(name, metric, options)
}

func (behaviour) UnmeasuredBy(metric string) []string {
	switch {
	case metric == ofOwn:
		return []string{"own_cells", "matrix"}
	case fabric.OfStage(metric):
		return append([]string{"fabric"}, fabric.CheckedOptions(true)...)
	}
	return nil
}
