package traffic

import (
	"weir/fabric"
	"weir/workload"
)

// ofOwn is the metric of what ranks copy within their own memory.
const ofOwn = "bytes.own"

// unmeasured says which option rules a metric out.
func unmeasured(v workload.Values, metric string) string {
	if metric == ofOwn {
		if v["own_cells"] == workload.OwnCopy {
			return ""
		}
		return "no rank copies a cell of its own, for which a matrix must have such cells, and own_cells be copy"
	}
	get := Kind.Get(v)
	name, _ := get("fabric").(string)
	options, err := fabric.Read(name, get)
	if err != nil {
		return "" // which is said of the options
	}
	return fabric.NoStage(name, metric, options)
}

func unmeasuredBy(metric string) []string {
	switch {
	case metric == ofOwn:
		return []string{"own_cells", "matrix"}
	case fabric.OfStage(metric):
		return append([]string{"fabric"}, fabric.CheckedOptions(true)...)
	}
	return nil
}
