package input

import (
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
	"weir/dsl/deadline"
	"weir/engine"
	"weir/gate"
	"weir/planner"
)

// planLimit is how long reading, planning or formatting one scenario may take.
var planLimit = 30 * time.Second

// overtime is how long after the deadline a scenario that does not look at it is ended.
const overtime = time.Second

// leastPlanMemory may be used even on a host with nothing to spare.
const leastPlanMemory = 512 << 20

// errPlanLimit ends a program whose scenario asks for too much.
var errPlanLimit = errors.New("too much to plan")

// Limited runs a step of reading a scenario. A step that exceeds its deadline and does not
// end by itself, or needs three quarters of the host's free memory, ends the program: so
// far it has started nothing.
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

// planMemory are the bytes that reading and planning a scenario may use.
func planMemory() uint64 {
	return max(leastPlanMemory, engine.FreeMemory(os.DirFS("/")).Available/4*3)
}

// watchPlanning waits until a step has ended, or says what it has too much of.
func watchPlanning(ended <-chan struct{}, memory uint64) error {
	late := time.After(planLimit + overtime)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		select {
		case <-ended:
			return nil
		case <-late:
			return fmt.Errorf("%w: it takes longer than %v; --plan-timeout allows more", errPlanLimit, planLimit)
		case <-look.C:
			if metrics.Read(heap); heap[0].Value.Uint64() > memory {
				return fmt.Errorf("%w: it needs more than %d MiB of memory, three quarters of what is free here",
					errPlanLimit, memory>>20)
			}
		}
	}
}

// build plans a scenario that was loaded.
func build(s *dsl.Scenario) (*planner.Plan, hcl.Diagnostics) {
	t, diags := Tabulate(s)
	if t == nil {
		return nil, diags
	}
	return t.Plan(), diags
}

// Tabulate plans a scenario that was loaded without writing its cases out.
func Tabulate(s *dsl.Scenario) (t *planner.Table, diags hcl.Diagnostics) {
	Limited(s.Deadline, "planning "+s.File, func() { t, diags = planner.Tabulate(s) })
	return t, diags
}
