package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	"weir/executor/cgroup"
	"weir/executor/environ"
	"weir/executor/inventory"
	"weir/executor/rank"
	"weir/fabric"
	"weir/results"
)

// Describe is what the kernel says of the node that has these files.
func Describe(root fs.FS) results.Node { return inventory.Read(root) }

// Survey says what this node has. The named fabrics, or all if none are named,
// are asked for in a throw-away process.
func (a *Agent) Survey(ctx context.Context, fabrics []string) results.Node {
	n := Describe(a.o.Host)
	n.Name = a.o.Node
	n.CPU.Allowed, n.CPU.Limit = len(a.cpus), cgroup.ReadCPU(a.o.Host).Limit
	n.Load, n.Running = inventory.LoadAverage(a.o.Host)
	n.Counters = a.counters().Watched()
	n.Variables = a.ownVariables()
	p, err := a.probe(ctx, fabrics)
	if err != nil {
		p = rank.Probe{Error: err.Error()}
	}
	n.Fabrics, n.StampClock = p.Fabrics, p.StampClock
	if p.GPUs != nil {
		n.GPUs = inventory.Near(a.o.Host, p.GPUs)
	} else if len(n.GPUs) > 0 { // where there is none, nobody asks why
		n.GPUReason = p.GPUReason
	}
	if p.Error != "" {
		// no fabric is known to be there, and each says why
		if len(fabrics) == 0 {
			fabrics = fabric.Names()
		}
		n.Fabrics = map[string]results.Fabric{}
		for _, f := range fabrics {
			n.Fabrics[f] = results.Fabric{Reason: p.Error}
		}
	}
	return n
}

func (a *Agent) probe(ctx context.Context, fabrics []string) (rank.Probe, error) {
	var p rank.Probe
	if a.o.Engine != nil {
		return rank.Probe{Fabrics: a.o.Engine.Probe(fabrics)}, nil
	}
	argv := append(append([]string{}, a.o.ProbeCommand...), fabrics...)
	out, err := a.spawner.output(ctx, a.o.Deadlines.Command, ofRanks, argv,
		a.environment(environ.Layers{Weir: fabric.RankEnv()}).Env)
	if err != nil {
		return p, fmt.Errorf("the probe process failed: %w", err)
	}
	// a vendor's library may have said something before
	if i := bytes.LastIndexByte(bytes.TrimSpace(out), '\n'); i >= 0 {
		out = out[i+1:]
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return p, fmt.Errorf("the probe process printed no probe: %w", err)
	}
	return p, nil
}
