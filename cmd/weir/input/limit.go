package input

import (
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/deadline"
	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
)

// planLimit is the time limit for reading, planning or formatting one scenario.
var planLimit = 30 * time.Second

// overtime is added to the deadline before the program ends, so that a step can end by itself.
const overtime = time.Second

// leastPlanMemory may always be used, in bytes.
const leastPlanMemory = 512 << 20

// errPlanLimit means that a scenario exceeds the limits of time or memory.
var errPlanLimit = errors.New("too much to plan")

// Limited runs a step of planning. It ends the program, which has started nothing yet, if the step does
// not end by itself at its deadline, or needs three quarters of the host's free memory.
func Limited(d *deadline.Deadline, what string, do func()) {
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		if err := watchPlanning(ended, planMemory()); err != nil {
			place := ""
			if r := d.Where(); r != nil {
				place = fmt.Sprintf(", at %s:%d", r.Filename, r.Start.Line)
			}
			fmt.Fprintf(os.Stderr, "weir: %s%s: %v\n", what, place, err)
			os.Exit(gate.ExitUsage)
		}
	}()
	do()
	close(ended)
	<-watched
}

// planMemory is the memory that planning may use, in bytes.
func planMemory() uint64 {
	return max(leastPlanMemory, engine.FreeMemory(os.DirFS("/")).Available/4*3)
}

// watchPlanning waits until a step has ended; the error names the limit that it exceeds.
func watchPlanning(ended <-chan struct{}, memory uint64) error {
	late := time.After(planLimit + overtime)
	check := time.NewTicker(50 * time.Millisecond)
	defer check.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		select {
		case <-ended:
			return nil
		case <-late:
			return fmt.Errorf("%w: it takes longer than %v; --plan-timeout allows more", errPlanLimit, planLimit)
		case <-check.C:
			if metrics.Read(heap); heap[0].Value.Uint64() > memory {
				return fmt.Errorf("%w: it needs more than %d MiB, three quarters of the free memory",
					errPlanLimit, memory>>20)
			}
		}
	}
}

// build plans a loaded scenario.
func build(s *dsl.Scenario) (*planner.Plan, hcl.Diagnostics) {
	t, diags := Tabulate(s)
	if t == nil {
		return nil, diags
	}
	return t.Plan(), diags
}

// Tabulate plans a loaded scenario without expanding its cases.
func Tabulate(s *dsl.Scenario) (t *planner.Table, diags hcl.Diagnostics) {
	Limited(s.Deadline, "planning "+s.File, func() { t, diags = planner.Tabulate(s) })
	return t, diags
}
