package results

import (
	"slices"
	"time"
)

// Calibration proposes what to expect of cases, from several sessions of a scenario.
type Calibration struct {
	Scenario   string
	Confidence float64 // with which a tolerance holds a new session
	Cap        float64 // the largest tolerance that is proposed, as a share
	Sessions   []Calibrated
	// Environment is the fingerprint that all sessions have; "": nobody knows it.
	Environment string
	Simulated   bool // some launch was
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

// Target is what is proposed for one metric of one case.
type Target struct {
	Case      string // key
	Run       string
	Axes      map[string]any
	AxisOrder []string
	Metric    string // "": the case cannot be used at all
	Unit      string
	Value     float64 // the geometric mean of the sessions' geometric means
	Sessions  int
	Launches  int // in all sessions
	Noise     []Component
	Look      int     // launches after which the tolerance is meant to be judged
	Tolerance float64 // as a share; what it would have to be where it is refused
	Refused   string  // why nothing is proposed; "" if it is
	Unusable  bool    // it is refused because a session has launches that cannot be judged
}

// Component is how much one level of the experiment adds to the noise.
type Component struct {
	Of string  // launches | sessions | nodes
	CV float64 // standard deviation of the logarithm
	DF float64 // degrees of freedom
}

// Proposes says whether anything is proposed.
func (c *Calibration) Proposes() bool {
	return slices.ContainsFunc(c.Targets, func(t *Target) bool { return t.Refused == "" })
}
