package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/executor/host/inventory"
	"github.com/weir-bench/weir/executor/rank"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
)

// Describe is the inventory of the node with these files.
func Describe(root fs.FS) results.Node { return inventory.Read(root) }

// Survey is the inventory of this node. A probe process probes the named fabrics; none: all.
func (a *Agent) Survey(ctx context.Context, fabrics []string) results.Node {
	var p rank.Probe
	var err error
	var probing sync.WaitGroup
	probing.Go(func() { p, err = a.probe(ctx, fabrics) }) // it takes as long as the rest
	n := Describe(a.o.Host)
	n.Name = a.o.Node
	n.CPU.Allowed, n.CPU.Limit = len(a.cpus), cgroup.ReadCPU(a.o.Host).Limit
	n.Load, n.Running = inventory.LoadAverage(a.o.Host)
	n.Counters = a.counters().Watched()
	n.Variables = a.ownVariables()
	if probing.Wait(); err != nil {
		p = rank.Probe{Error: err.Error()}
	}
	n.Fabrics, n.StampClock = p.Fabrics, p.StampClock
	if p.GPUs != nil {
		n.GPUs = inventory.Near(a.o.Host, p.GPUs)
	} else if len(n.GPUs) > 0 {
		n.GPUReason = p.GPUReason
	}
	if p.Error != "" {
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
	out, err := a.spawner.output(ctx, a.o.Deadlines.Command, forRanks, argv,
		a.environment(environ.Layers{Weir: fabric.RankEnv()}).Env)
	if err != nil {
		return p, fmt.Errorf("the probe process failed: %w", err)
	}
	// a vendor's library may have written lines before
	if i := bytes.LastIndexByte(bytes.TrimSpace(out), '\n'); i >= 0 {
		out = out[i+1:]
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return p, fmt.Errorf("the probe process printed no probe: %w", err)
	}
	return p, nil
}

// counterTime bounds reading a node's counters: the driver of a device may hang.
const counterTime = 2 * time.Second

// counters reads the node's counters, before and after a launch, never while it runs; nil: the driver hangs.
func (a *Agent) counters() inventory.Counters {
	ctx, cancel := context.WithTimeout(context.Background(), counterTime)
	defer cancel()
	c, _ := withContext(ctx, func() (inventory.Counters, error) { return inventory.ReadCounters(a.o.Host), nil })
	return c
}

// processorUse is the load and the CPU limit of the node at a time.
type processorUse struct {
	load inventory.Load
	cpu  cgroup.CPU
	at   time.Time
}

func (a *Agent) processorUse() processorUse {
	return processorUse{inventory.ReadLoad(a.o.Host, os.Getpid()), cgroup.ReadCPU(a.o.Host), time.Now()}
}

func (a *Agent) loadSince(before processorUse) *results.NodeLoad {
	now := a.processorUse()
	took := now.at.Sub(before.at).Seconds()
	n := now.load.Since(before.load, took)
	n.Node, n.CPUs, n.Elapsed, n.Limit = a.o.Node, len(a.cpus), took, now.cpu.Limit
	n.Throttled = max(now.cpu.Throttled-before.cpu.Throttled, 0)
	return &n
}
