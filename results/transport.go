package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Transport is a transport of a launch's messages, as the fabric's library names it.
type Transport struct {
	// posix, rc_mlx5, tcp;ofi_rxm, …; "" if the fabric does not report it
	Name   string `json:"name" doc:"Empty where the fabric does not say."`
	Device string `json:"device,omitempty"`
	Use    string `json:"use" doc:"data: blocks took it; possible: at least one of those that are possible carried blocks, and the library does not say which; control: only wiring up, signals and acknowledgements took it." schema:"enum=data|possible|control"`
	// Emulated says that blocks were sent as active messages that a processor at the other end copies, because
	// no transport accesses its memory directly.
	Emulated bool `json:"emulated,omitzero" doc:"Blocks took it as active messages that a processor at the other end copies."`
	// Opaque says that the library uses further transports below this one without reporting them.
	Opaque bool  `json:"opaque,omitzero" doc:"The library uses further transports below it without reporting which."`
	Ranks  []int `json:"ranks"` // ranks that used it, ascending
}

// The uses of a transport.
const (
	DataUse = "data" // blocks, all or some of them
	// PossibleUse: at least one of the transports with this use carried blocks, but the library does not
	// report which.
	PossibleUse = "possible"
	ControlUse  = "control" // wiring up, signals, acknowledgements: no block
)

var uses = []string{DataUse, PossibleUse, ControlUse}

// String names the transport: "rc_mlx5/mlx5_0:1".
func (t Transport) String() string {
	switch {
	case t.Name == "":
		return "unnamed by the fabric"
	case t.Device != "":
		return t.Name + "/" + t.Device
	}
	return t.Name
}

// Data reports whether blocks used it, or may have.
func (t Transport) Data() bool { return t.Use != ControlUse }

// CarriedBy lists the transports that carried data, with the ranks if these differ; "" if none did. If no
// use is certain, at least one of the possible ones carried data.
func CarriedBy(list []Transport) string {
	list = slices.DeleteFunc(slices.Clone(list), func(t Transport) bool { return !t.Data() })
	texts := map[bool][]string{} // by certainty
	for i, text := range TransportTexts(list) {
		is := list[i].Use == DataUse
		texts[is] = append(texts[is], text)
	}
	sure, possible := strings.Join(texts[true], " and "), strings.Join(texts[false], " or ")
	switch {
	case possible == "":
		return sure
	case sure != "":
		return sure + " (and possibly " + possible + ")"
	case len(list) > 1:
		return possible + " (one or more of them)"
	}
	return possible
}

// TransportTexts formats transports, with the ranks if these differ.
func TransportTexts(list []Transport) []string {
	alike := !slices.ContainsFunc(list, func(t Transport) bool { return !slices.Equal(t.Ranks, list[0].Ranks) })
	var texts []string
	for _, t := range list {
		text := t.String()
		if t.Emulated {
			text += " (by active messages)"
		}
		if !alike {
			text += " of " + t.RanksText()
		}
		texts = append(texts, text)
	}
	return texts
}

// mostRanks is the number of ranks that a message lists.
const mostRanks = 8

// RanksText lists the ranks: "ranks 0, 1".
func (t Transport) RanksText() string {
	if len(t.Ranks) == 0 {
		return "a rank"
	}
	var texts []string
	for _, r := range t.Ranks[:min(len(t.Ranks), mostRanks)] {
		texts = append(texts, strconv.Itoa(r))
	}
	if len(t.Ranks) > mostRanks {
		texts = append(texts, "…")
	}
	word := "rank "
	if len(t.Ranks) > 1 {
		word = "ranks "
	}
	return word + strings.Join(texts, ", ")
}

// MergeTransports merges the transports of ranks, those that carried data first.
func MergeTransports(list []Transport) []Transport {
	type key struct {
		name, device, use string
		emulated, opaque  bool
	}
	out := mergeRanks(list, func(t *Transport) *[]int { return &t.Ranks },
		func(t Transport) key { return key{t.Name, t.Device, t.Use, t.Emulated, t.Opaque} })
	slices.SortStableFunc(out, func(a, b Transport) int {
		return cmp.Or(cmp.Compare(slices.Index(uses, a.Use), slices.Index(uses, b.Use)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Device, b.Device))
	})
	return out
}
