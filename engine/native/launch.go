package native

import (
	"errors"
	"maps"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/workload/move"
)

// launch is the launch of a rank, with its cases decoded.
type launch struct {
	engine.Launch
	Cases []task
}

// task is a case with what it moves.
type task struct {
	engine.Case
	Options move.Spec
}

// decode decodes what the cases of a launch move. All of them have the options that weir chose with the
// fabric.
func decode(l engine.Launch) (launch, error) {
	out := launch{Launch: l}
	for _, c := range l.Cases {
		o, err := move.Read(c.Spec, c.Large)
		if err != nil {
			return out, err
		}
		if o.FabricOptions == nil {
			o.FabricOptions = fabric.Options{}
		}
		maps.Copy(o.FabricOptions, l.Options)
		c.Spec, c.Large = nil, nil
		out.Cases = append(out.Cases, task{c, o})
	}
	out.Launch.Cases = nil
	if len(out.Cases) == 0 {
		return out, errors.New("the launch has no cases")
	}
	return out, nil
}

// Threads returns the threads per rank, equal for all cases of a launch.
func (l launch) Threads() int { return max(1, int(l.Cases[0].Options.Threads)) }

// find returns the index of a case, -1 if the launch has none with this key.
func (l launch) find(key string) int {
	for i := range l.Cases {
		if l.Cases[i].Key == key {
			return i
		}
	}
	return -1
}
