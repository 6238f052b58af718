// Package deadline limits the time for reading and planning a scenario, since a small file can
// require years.
package deadline

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Deadline is the time limit of reading and planning. A nil Deadline never expires.
type Deadline struct {
	limit time.Duration
	end   time.Time
	place atomic.Pointer[hcl.Range]
	calls int
	over  bool
}

// After returns a deadline at limit from now.
func After(limit time.Duration) *Deadline { return &Deadline{limit: limit, end: time.Now().Add(limit)} }

// checked is the number of calls of At for each reading of the clock.
const checked = 64

// At records the part of the scenario being processed, and returns whether the deadline has passed.
// It is not safe for concurrent use.
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

// Where returns the part of the scenario processed last, nil before the first. It is safe for
// concurrent use.
func (d *Deadline) Where() *hcl.Range {
	if d == nil {
		return nil
	}
	return d.place.Load()
}

// Error returns the diagnostic for an expired deadline, at the part processed last.
func (d *Deadline) Error() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Planning takes too long",
		Detail:  fmt.Sprintf("Planning this part exceeded the limit of %v.", d.limit),
		Subject: d.Where(),
	}
}
