package results

import "time"

// Previous is the change of a scenario since an earlier session, for readers. It has no effect on
// verdicts.
type Previous struct {
	Session string    `json:"session"`
	File    string    `json:"file"`
	Started time.Time `json:"started"`
	Status  string    `json:"status" schema:"enum=passed|failed|inconclusive|error|aborted"`
	// Differences are of its environment and settings to this session's; its side is Base.
	Differences []Difference `json:"differences,omitempty" doc:"What of the environment and the settings of the earlier session (base) and of this one (new) is not the same; \"\" is that a side lacks it."`
	// Since lists the changes of asserted metrics.
	Since []*Since `json:"since,omitempty" doc:"What became of the metrics that assertions are about."`
	// NotCompared lists the asserted metrics of this session that are not in Since.
	NotCompared []NotCompared `json:"not_compared,omitempty" doc:"Metrics that assertions are about and that were not compared with the earlier session."`
}

// NotCompared is an asserted metric of one case that was not compared.
type NotCompared struct {
	Case   string `json:"case"`
	Metric string `json:"metric"`
	Reason string `json:"reason" doc:"Why: env BASE differs."`
}

// Since is the change of one metric of one case.
type Since struct {
	Case   string   `json:"case"`
	Metric string   `json:"metric"`
	Unit   string   `json:"unit"`
	Base   Observed `json:"base"`
	// Change is this session's value as a ratio to Base, or less Base in Unit if Additive.
	Change   Change `json:"change" doc:"The value of this session as a ratio to base, or less base in unit where additive is true."`
	Additive bool   `json:"additive,omitzero"`
}

// ChangeText is as for Effect.
func (s *Since) ChangeText() (value, low, high string) {
	e := Effect{Unit: s.Unit, Base: &s.Base, Change: &s.Change, Additive: s.Additive}
	return e.ChangeText()
}
