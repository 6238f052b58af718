package results

import (
	"fmt"

	"github.com/weir-bench/weir/results/assertion"
)

// Claim is what a document says of a case, and what was found.
type Claim struct {
	assertion.Claim
	Found   *Observed `json:"found,omitzero" doc:"What was measured, of a gain the share. Absent if nothing was."`
	Status  string    `json:"status" doc:"agrees: the interval of what was found lies within the tolerance; better, worse, above, below: outside of it; inconclusive: partly, or there is no interval; implausible: no measurement can give the value; not comparable: the case differs from what the document measured." schema:"enum=agrees|better|worse|above|below|inconclusive|implausible|not comparable|not measured"`
	Message string    `json:"message,omitempty" doc:"Why it was not measured, has no interval, or is implausible or not comparable."`
}

// The statuses of a claim.
const (
	ClaimAgrees        = "agrees"
	ClaimBetter        = "better"
	ClaimWorse         = "worse"
	ClaimAbove         = "above" // of a metric without a better direction
	ClaimBelow         = "below"
	ClaimInconclusive  = "inconclusive"
	ClaimImplausible   = "implausible"
	ClaimNotComparable = "not comparable"
	ClaimNotMeasured   = "not measured"
)

// Judge sets the status by what was found; nil: nothing, for the reason of the message.
func (c *Claim) Judge(found *Observed, message string) {
	c.Found, c.Message = found, message
	switch {
	case c.Implausible != "":
		c.Status, c.Message = ClaimImplausible, c.Doubt()
		return
	case found == nil:
		c.Status = ClaimNotMeasured
		return
	case c.Differs != "":
		c.Status, c.Message = ClaimNotComparable, c.Differs
		return
	}
	if found.CI == nil { // how far another launch would be from it is unknown
		c.Status, c.Message = ClaimInconclusive, fmt.Sprintf("n=%d, too few for an interval", found.N)
		return
	}
	low, high := found.CI[0], found.CI[1]
	least, most := c.Band()
	switch {
	case low > most:
		c.Status = c.direction(true)
	case high < least:
		c.Status = c.direction(false)
	case low >= least && high <= most:
		c.Status = ClaimAgrees
	default:
		c.Status = ClaimInconclusive
	}
}

func (c *Claim) direction(above bool) string {
	switch {
	case c.Gain() || c.Better == "higher":
	case c.Better == "lower":
		above = !above
	case above:
		return ClaimAbove
	default:
		return ClaimBelow
	}
	if above {
		return ClaimBetter
	}
	return ClaimWorse
}

// FoundText formats what was found and its interval; "" where there is none.
func (c *Claim) FoundText() (value, low, high string) {
	if c.Found == nil {
		return "", "", ""
	}
	if c.Gain() {
		return Percent.signedEstimate(c.Found.Value, c.Found.CI)
	}
	s := ScaleFor(c.Found.Value, c.Unit)
	value, low, high = s.Estimate(c.Found.Value, c.Found.CI)
	return s.WithUnit(value), low, high
}
