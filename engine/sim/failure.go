package sim

import (
	"fmt"
	"slices"

	"weir/engine"
	"weir/fabric"
	"weir/results"
	"weir/workload"
)

// trouble is the failure that a launch will have, and where.
type trouble struct {
	failure *results.Failure // nil: none
	at      int              // index of the case that it ends; len(cases): none, it comes at the end
}

// before says whether the launch does not come through case i.
func (t trouble) before(i int) bool { return t.failure != nil && i >= t.at }

// drawFailure decides whether, where and how the launch fails. If several
// failures befall it, the one that comes first is the only one that anyone sees.
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

// phases in the order in which a launch comes to them; the last is after all cases.
var phases = []string{"ready", "connect", "verify", "run", "teardown"}

// befalls says whether a launch is one of those that fail. One that is named does
// so at its first attempt only: a retry shows that it can go well.
func (l *launch) befalls(f workload.SimFailure, luck float64) bool {
	if f.Launch >= 0 {
		return f.Launch == l.Index && l.attempt == 0
	}
	return luck < float64(f.Share)
}

// kinds are the usual kinds of failures by phase.
var kinds = map[string]string{
	"ready": results.FailedReady, "connect": results.FailedLink, "verify": results.Wrong, "run": results.Fault,
	"teardown": results.Fault,
}

func (l *launch) failure(f workload.SimFailure, rank int) *results.Failure {
	kind := f.Kind
	if kind == "" {
		kind = kinds[f.Phase]
	}
	return &results.Failure{
		Rank: rank, Node: l.Nodes[rank], Phase: f.Phase, Kind: kind, Cause: "simulated: " + l.cause(kind, rank),
	}
}

// cause words a failure as a real one would.
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
