package move

import (
	_ "embed"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

//go:embed docs.md
var docs string

// init fills in the texts of options and metrics that several workloads share, before any of these is made.
func init() {
	d := option.ReadDocs(docs)
	d.OfOptions(options)
	workload.DocumentMetrics(d, ownMetrics)
	OwnBytes = ownMetrics[0]
}
