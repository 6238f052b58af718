package assertion

// Inconclusive is the session's policy for inconclusive gates, unless the assertion has its own (Decide).
type Inconclusive struct {
	// As replaces inconclusive: "fail", "warn" or "pass"; "": it stays.
	As string `json:"as,omitempty" doc:"The verdict that stands in for inconclusive; absent: it stays." schema:"enum=fail|warn|pass"`
	// Streak is the number of consecutive inconclusive sessions after which the gate fails; 0: never.
	Streak int `json:"streak,omitzero" doc:"The number of inconclusive sessions in a row with which a gate fails; absent: it never does." schema:"minimum=2"`
}

// StandIn returns the verdict that replaces inconclusive; "": none.
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

// Or fills the unset fields of a policy from another one.
func (i Inconclusive) Or(other Inconclusive) Inconclusive {
	if i.As == "" {
		i.As = other.As
	}
	if i.Streak == 0 {
		i.Streak = other.Streak
	}
	return i
}
