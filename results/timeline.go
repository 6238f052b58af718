package results

// Timeline is the history of a group of ranks that changes during traffic.
type Timeline struct {
	Moments []Moment `json:"moments" doc:"In the order of their times."`
	// Steps are those of the case, in order.
	Steps []GroupStep `json:"steps" doc:"Steps of the group, in their order; of more than 1000 the first."`
}

// MostGroupSteps limits the steps of a timeline.
const MostGroupSteps = 1000

// Moment is an event at an instant, or a state from it on.
type Moment struct {
	At   float64 `json:"at_s" doc:"Seconds from the beginning of the case."`
	What string  `json:"what" schema:"enum=order|joined|left|killed|muted|noticed|regrouped|prepare"`
	Rank int     `json:"rank" doc:"-1: of the group." schema:"minimum=-1"`
	By   int     `json:"by" doc:"The rank that noticed it; -1: the group." schema:"minimum=-1"`
	Took float64 `json:"took_s,omitzero" doc:"How long it took, of what does not happen at an instant."`
}

// GroupStep is one step of all ranks of a group.
type GroupStep struct {
	At    float64 `json:"at_s" doc:"When its first rank began it, in seconds from the beginning of the case."`
	Took  float64 `json:"took_s" doc:"Until its last rank had ended it."`
	Ranks int     `json:"ranks" doc:"How many took part."`
}
