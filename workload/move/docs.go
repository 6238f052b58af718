package move

import (
	_ "embed"

	"weir/workload"
)

//go:embed docs.md
var docs string

// The options and the metric below belong to several workloads. Their texts are filled in
// before any of these is made.
func init() {
	d := workload.ReadDocs(docs)
	d.OfOptions(options)
	d.OfMetrics(ownMetrics)
	OwnBytes = ownMetrics[0]
}
