package assertion

// Inconclusive is what becomes of a gate that the launches of a session left open, where the assertion
// does not say so itself (Decide).
type Inconclusive struct {
	// As is the verdict that stands in for it: "fail", "warn" or "pass"; "": it stays inconclusive.
	As string `json:"as,omitempty" doc:"The verdict that stands in for inconclusive; absent: it stays." schema:"enum=fail|warn|pass"`
	// Streak is the number of consecutive inconclusive sessions with which the gate fails; 0: it never does.
	Streak int `json:"streak,omitzero" doc:"The number of inconclusive sessions in a row with which a gate fails; absent: it never does." schema:"minimum=2"`
}

// StandIn is the verdict that stands in for inconclusive; "": it stays so.
func (d *Decide) StandIn(session Inconclusive) string {
	as := session.As
	if d != nil && d.OnInconclusive != "" {
		as = d.OnInconclusive
	}
	if as == "inconclusive" {
		return ""
	}
	return as
}

// Or is the policy, with what it leaves open from another one.
func (i Inconclusive) Or(other Inconclusive) Inconclusive {
	if i.As == "" {
		i.As = other.As
	}
	if i.Streak == 0 {
		i.Streak = other.Streak
	}
	return i
}
