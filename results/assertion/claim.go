package assertion

// Claim is what a document says of a metric of a case. No verdict rests on it.
type Claim struct {
	Run      string  `json:"run"`
	Case     string  `json:"case"`
	BaseCase string  `json:"base_case,omitempty" doc:"Of a gain: the case that it is over."`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit" doc:"Of the metric. Gains are shares."`
	Better   string  `json:"better" schema:"enum=higher|lower|none"`
	Expected float64 `json:"expected" doc:"What the document says: a value in the unit, or of a gain a share, positive where the variant is better."`
	Written  string  `json:"written" doc:"Expected as the author of the scenario wrote it."`
	// Tolerance is a share of Expected, or of a gain a difference of shares.
	Tolerance     float64 `json:"tolerance" doc:"How far a value may be from it and agree: a share of it, or of a gain a difference of shares." schema:"minimum=0"`
	Source        string  `json:"source" doc:"The document."`
	Date          string  `json:"date,omitempty" doc:"Day of the document."`
	Configuration string  `json:"configuration,omitempty" doc:"What it was measured on, as the author of the scenario has it."`
	Says          string  `json:"says,omitempty" doc:"What the document says of the value, as recommended."`
	Implausible   string  `json:"implausible,omitempty" doc:"Why no measurement can give the value; absent: nothing speaks against it."`
	Differs       string  `json:"differs,omitempty" doc:"What the case has otherwise than the document measured with; absent: nothing that the claim requires."`
	File          string  `json:"file,omitempty"`
	Line          int     `json:"line,omitzero" schema:"minimum=1"`
}

// Gain reports whether the claim is about a gain.
func (c *Claim) Gain() bool { return c.BaseCase != "" }

// Same reports whether another claim says the same of another run.
func (c Claim) Same(other Claim) bool {
	return c.Run != other.Run && c.Gain() == other.Gain() && c.published() == other.published()
}

// Doubt says why the value is implausible, and what the case has otherwise besides; "": neither is so.
func (c Claim) Doubt() string {
	switch {
	case c.Implausible != "" && c.Differs != "":
		return c.Implausible + "; and not comparable: " + c.Differs
	case c.Implausible != "":
		return c.Implausible
	}
	return c.Differs
}

// published is a claim without what depends on its run.
func (c Claim) published() Claim {
	c.Run, c.Case, c.BaseCase, c.Implausible, c.Differs, c.File, c.Line = "", "", "", "", "", "", 0
	return c
}

// ExpectedText is the published value.
func (c *Claim) ExpectedText() string {
	if c.Gain() {
		return c.Written + " over " + c.BaseCase
	}
	return c.Written
}

// Band is the interval of the values that agree with the claim.
func (c *Claim) Band() (low, high float64) {
	by := c.Tolerance
	if !c.Gain() {
		by *= max(c.Expected, -c.Expected)
	}
	return c.Expected - by, c.Expected + by
}
