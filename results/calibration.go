package results

import (
	"slices"
	"time"
)

// Calibration proposes expected values of cases, from several sessions of a scenario.
type Calibration struct {
	Scenario   string
	Confidence float64 // that a new session is within the tolerance
	Cap        float64 // largest proposed tolerance, as a share
	Sessions   []Calibrated
	// Environment is the fingerprint of all sessions; "": unknown.
	Environment string
	Simulated   bool // a launch was simulated
	Targets     []*Target
	ExitCode    int
}

// Calibrated is one of the sessions.
type Calibrated struct {
	File    string
	Digest  string // of the file: "sha256:…"
	Session string
	Started time.Time
	Weir    string // version
}

// Target is the proposal for one metric of one case.
type Target struct {
	Case      string // key
	Run       string
	Axes      map[string]any
	AxisOrder []string
	Metric    string // "": the case is unusable
	Unit      string
	Value     float64 // geometric mean of the sessions' geometric means
	Sessions  int
	Launches  int // in all sessions
	Noise     []Component
	Look      int     // number of launches that the tolerance is for
	Tolerance float64 // as a share; the required one if refused
	Refused   string  // why nothing is proposed; ""
	Unusable  bool    // refused because a session has unusable launches
}

// Component is the noise that one level of the experiment adds.
type Component struct {
	Of string  // launches | sessions | nodes
	CV float64 // standard deviation of the logarithm
	DF float64 // degrees of freedom
}

// Proposes reports whether anything is proposed.
func (c *Calibration) Proposes() bool {
	return slices.ContainsFunc(c.Targets, func(t *Target) bool { return t.Refused == "" })
}
