package results

// Timeline is what happened in a case to a group of ranks that changes while traffic goes on.
type Timeline struct {
	Moments []Moment `json:"moments" doc:"In the order of their times."`
	// Steps are those of the case, in their order.
	Steps []GroupStep `json:"steps" doc:"Steps of the group, in their order; of more than 1000 the first."`
}

// MostGroupSteps are as many as a timeline has of them.
const MostGroupSteps = 1000

// Moment is something that happened at an instant, or from it on.
type Moment struct {
	At   float64 `json:"at_s" doc:"Seconds from the beginning of the case."`
	What string  `json:"what" schema:"enum=order|joined|left|killed|muted|noticed|regrouped|prepare"`
	Rank int     `json:"rank" doc:"Whose; -1: of the group." schema:"minimum=-1"`
	By   int     `json:"by" doc:"The rank that noticed it; -1: the group." schema:"minimum=-1"`
	Took float64 `json:"took_s,omitzero" doc:"How long it took, of what does not happen at an instant."`
}

// GroupStep is one step of all ranks of a group.
type GroupStep struct {
	At    float64 `json:"at_s" doc:"When its first rank began it, in seconds from the beginning of the case."`
	Took  float64 `json:"took_s" doc:"Until its last rank had ended it."`
	Ranks int     `json:"ranks" doc:"How many took part."`
}
