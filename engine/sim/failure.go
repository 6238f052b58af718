package sim

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// trouble is the failure that a launch will have, and where.
type trouble struct {
	failure *results.Failure // nil: none
	at      int              // index of the case that it ends; len(cases): the teardown
}

// before reports whether the launch fails before case i completes.
func (t trouble) before(i int) bool { return t.failure != nil && i >= t.at }

// drawFailure decides whether, where and how the launch fails. Of several failures the first one happens.
func (l *launch) drawFailure() trouble {
	best := trouble{}
	earliest := 0
	for i, f := range l.model.Failures {
		r := l.stream(forFailure, uint64(i))
		luck, rank, at := r.Float64(), r.IntN(l.Ranks), r.IntN(len(l.Cases))
		if !l.befalls(f, luck) {
			continue
		}
		if f.Rank >= 0 {
			rank = f.Rank
		}
		switch {
		case f.Phase == "ready" || f.Phase == "connect" || f.Launch >= 0 && f.Phase != "teardown":
			at = 0
		case f.Phase == "teardown":
			at = len(l.Cases)
		}
		order := at*len(phases) + slices.Index(phases, f.Phase)
		if best.failure == nil || order < earliest {
			best, earliest = trouble{l.failure(f, rank), at}, order
		}
	}
	return best
}

// phases are in the order of a launch; the last one is after all cases.
var phases = []string{"ready", "connect", "verify", "run", "teardown"}

// befalls reports whether a launch is one of those that fail. A launch that is named by number fails only at its first
// attempt, so that a retry succeeds.
func (l *launch) befalls(f option.SimFailure, luck float64) bool {
	if f.Launch >= 0 {
		return f.Launch == l.Index && l.attempt == 0
	}
	return luck < float64(f.Share)
}

// kinds are the default kinds of failures by phase.
var kinds = map[string]string{
	"ready": results.FailedReady, "connect": results.FailedLink, "verify": results.Wrong, "run": results.Fault,
	"teardown": results.Fault,
}

func (l *launch) failure(f option.SimFailure, rank int) *results.Failure {
	kind := f.Kind
	if kind == "" {
		kind = kinds[f.Phase]
	}
	return &results.Failure{
		Rank: rank, Node: l.Nodes[rank], Phase: f.Phase, Kind: kind, Cause: "simulated: " + l.cause(kind, rank),
	}
}

// cause formats a failure as a real one.
func (l *launch) cause(kind string, rank int) string {
	switch kind {
	case results.FailedReady:
		return "the rank does not open its fabric"
	case results.FailedLink:
		return "the rank does not connect"
	case results.Crashed:
		return "killed by signal 9 (SIGKILL)"
	case results.TimedOut:
		return "did not finish in time"
	case results.NodeLost:
		return "the node's agent is gone"
	case results.Wrong:
		return "wrong data at byte 0"
	}
	return (&engine.Error{Fabric: fabric.SimName, Op: "put", Peer: -1,
		Text: fmt.Sprintf("rank %d reports a failed request", rank)}).Error()
}
