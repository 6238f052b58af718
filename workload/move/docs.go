package move

import (
	_ "embed"
	"slices"

	"weir/workload"
)

//go:embed docs.md
var docs string

// The options below belong to several workloads. Their texts are filled in before any of
// these is made.
func init() {
	d := workload.ReadDocs(docs)
	all := slices.Concat(ownCells, NixlOptions, SimulationOptions)
	d.OfOptions(all)
	copy(ownCells, all)
	copy(NixlOptions, all[len(ownCells):])
	copy(SimulationOptions, all[len(ownCells)+len(NixlOptions):])
	d.OfMetrics(ownMetrics)
	OwnBytes = ownMetrics[0]
}
