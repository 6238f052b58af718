// Package deadline bounds how long a scenario is read and planned. A file of some kilobytes
// can ask for years of it.
package deadline

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Deadline is when reading and planning a scenario must be over. A nil one never comes.
type Deadline struct {
	limit time.Duration
	end   time.Time
	place atomic.Pointer[hcl.Range]
	calls int
	over  bool
}

// After is a deadline so long from now.
func After(limit time.Duration) *Deadline { return &Deadline{limit: limit, end: time.Now().Add(limit)} }

// checked is how many calls of At read the clock once.
const checked = 64

// At notes what part of the scenario is worked on, and says whether the deadline is over.
// Only one goroutine calls it.
func (d *Deadline) At(r hcl.Range) bool {
	if d == nil {
		return false
	}
	if last := d.place.Load(); last == nil || *last != r {
		d.place.Store(&r)
	}
	if d.calls++; d.calls%checked == 1 && !d.over {
		d.over = time.Now().After(d.end)
	}
	return d.over
}

// Where is what part of the scenario was worked on last, nil before the first. Any
// goroutine may ask.
func (d *Deadline) Where() *hcl.Range {
	if d == nil {
		return nil
	}
	return d.place.Load()
}

// Error says that the deadline is over, at the place that was worked on last.
func (d *Deadline) Error() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Planning takes too long",
		Detail:  fmt.Sprintf("After %v weir was still working this out.", d.limit),
		Subject: d.Where(),
	}
}
