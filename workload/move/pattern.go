package move

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

// Targets returns the ranks that a rank initiates to, in the order of its requests; none: it is only a target. In a
// ping-pong the targets answer.
func (t Spec) Targets(rank int) []int {
	n := int(t.Ranks)
	switch half := n / 2; {
	case t.Pattern == MatrixPattern && t.Op == "read":
		return fromTheNext(rank, t.senders(rank))
	case t.Pattern == MatrixPattern:
		return fromTheNext(rank, t.receivers(rank))
	case t.Pattern == "pairwise" && rank < half:
		return []int{rank + half}
	case t.Pattern == "pairwise" && t.Bidirectional:
		return []int{rank - half}
	case t.Pattern == "one_to_many" && rank == 0, t.Pattern == "all_to_all":
		return others(rank, n)
	case t.Pattern == "many_to_one" && rank != 0:
		return []int{0}
	case t.Pattern == "ring":
		return []int{(rank + 1) % n}
	}
	return nil
}

// Initiates reports whether a rank has targets, without listing them.
func (t Spec) Initiates(rank int) bool {
	switch t.Pattern {
	case MatrixPattern:
		return len(t.Targets(rank)) > 0
	case "one_to_many":
		return rank == 0
	case "many_to_one":
		return rank != 0
	case "ring", "all_to_all":
		return true
	case "pairwise":
		return rank < int(t.Ranks)/2 || t.Bidirectional
	}
	return false
}

// Sources returns the ranks that initiate to a rank, in ascending order.
func (t Spec) Sources(rank int) []int {
	n := int(t.Ranks)
	switch half := n / 2; {
	case t.Pattern == MatrixPattern && t.Op == "read":
		return t.receivers(rank)
	case t.Pattern == MatrixPattern:
		return t.senders(rank)
	case t.Pattern == "pairwise" && rank >= half:
		return []int{rank - half}
	case t.Pattern == "pairwise" && t.Bidirectional:
		return []int{rank + half}
	case t.Pattern == "one_to_many" && rank != 0:
		return []int{0}
	case t.Pattern == "many_to_one" && rank == 0, t.Pattern == "all_to_all":
		list := others(rank, n)
		slices.Sort(list)
		return list
	case t.Pattern == "ring":
		return []int{(rank + n - 1) % n}
	}
	return nil
}

// others begin with the next rank, so that not all initiators begin with the same.
func others(rank, n int) []int {
	list := make([]int, 0, n-1)
	for i := 1; i < n; i++ {
		list = append(list, (rank+i)%n)
	}
	return list
}

// Share is the share of its path that an initiator has to itself: min(1, Σ 1/sources) over its targets, so that the
// shares of initiators with a common target add up to it. All targets of an initiator have equally many sources. For a
// matrix it is 1, as targets serve others too.
func (t Spec) Share(initiator int) float64 {
	if t.Pattern == MatrixPattern {
		return 1
	}
	if !t.Initiates(initiator) {
		return 0
	}
	target := 0
	if t.Pattern == "one_to_many" {
		target = 1
	}
	return min(1, float64(t.FanOut())/float64(t.served(target)))
}

// FanOut is the number of targets of an initiator, which is the same for all; for a matrix the largest.
func (t Spec) FanOut() int64 {
	if t.Pattern == MatrixPattern {
		targets, _ := t.flows()
		return slices.Max(targets)
	}
	if t.Pattern == "one_to_many" || t.Pattern == "all_to_all" {
		return t.Ranks - 1
	}
	return 1
}

// served returns the number of sources of a target.
func (t Spec) served(target int) int64 {
	if t.Pattern == MatrixPattern {
		return int64(len(t.Sources(target)))
	}
	if t.Pattern == "all_to_all" || t.Pattern == "many_to_one" && target == 0 {
		return t.Ranks - 1
	}
	return 1
}

// Regions is the number of pairs of the rank that is in most, and at least one each as an initiator and as a target:
// ranks allocate memory for this many.
func (t Spec) Regions() int64 {
	if t.Pattern == MatrixPattern {
		return t.maxRegions()
	}
	return t.FanOut() + t.served(0)
}

// maxMemory is more than a rank can have, and small enough for arithmetic.
const maxMemory = quantity.Size(1 << 50)

// Check validates combinations of options.
func (t Spec) Check() error {
	if t.Pattern == MatrixPattern || t.Matrix != nil {
		return t.checkMatrix()
	}
	switch {
	case t.Pattern == "pairwise" && t.Ranks%2 != 0:
		return fmt.Errorf("pattern pairwise needs an even number of ranks, not %d", t.Ranks)
	case t.Mode == "pingpong" && t.Batch != 1:
		return fmt.Errorf("mode pingpong sends one message at a time: a batch of %d has no meaning in it; for many blocks in a request use mode stream",
			t.Batch)
	case t.Mode == "pingpong" && t.Reuse == "spread":
		return fmt.Errorf("mode pingpong sends every message to one place: reuse spread has no meaning in it")
	case t.Mode == "pingpong" && t.Op == "read":
		return fmt.Errorf("mode pingpong sends messages there and back: it has no op read; for the latency of a read use mode stream with in_flight 1")
	case t.Mode == "pingpong" && t.Pattern != "pairwise":
		return fmt.Errorf("mode pingpong needs pattern pairwise, not %s: two ranks wait for each other; for latencies under a pattern use mode stream with in_flight 1",
			t.Pattern)
	case t.Bidirectional && t.Pattern != "pairwise":
		return fmt.Errorf("bidirectional needs pattern pairwise, where only one rank of a pair initiates, not %s",
			t.Pattern)
	case t.Bidirectional && t.Mode == "pingpong":
		return fmt.Errorf("mode pingpong goes there and back already: it cannot be bidirectional")
	case t.Duration == 0 && t.Iterations < t.FanOut():
		return fmt.Errorf("pattern %s of %d ranks needs at least %d iterations, one for each target of an initiator, not %d",
			t.Pattern, t.Ranks, t.FanOut(), t.Iterations)
	}
	if err := t.CheckFabric(); err != nil {
		return err
	}
	if areas := t.Regions() * t.Threads; t.BlockSize > maxMemory/quantity.Size(t.Batch)/quantity.Size(areas) {
		return fmt.Errorf("a rank needs room for %d requests of %d blocks of %v, which is more than %v", areas, t.Batch,
			t.BlockSize, maxMemory)
	}
	return nil
}

// CheckFabric checks the limits of a fabric for any pattern.
func (t Spec) CheckFabric() error {
	if !fabric.Simulated(t.Fabric) && t.Ranks > option.MostProcesses {
		return fmt.Errorf("a launch has at most %d ranks, not %d: the engine numbers them with 10 bits; "+
			"only fabric %s, which starts no processes, takes up to %d", option.MostProcesses, t.Ranks,
			fabric.SimName, option.MostSimulated)
	}
	if _, err := option.ParseNUMA(t.NUMA); err != nil {
		return fmt.Errorf("option numa: %w", err)
	}
	if why := t.Lacks(t.Fabric); why != "" {
		return errors.New(why)
	}
	return nil
}
