package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Transport is one way that messages of a launch took, as the library of its
// fabric names it.
type Transport struct {
	// posix, rc_mlx5, tcp;ofi_rxm, …; "" where the fabric does not say
	Name   string `json:"name" doc:"Empty where the fabric does not say."`
	Device string `json:"device,omitempty"`
	Use    string `json:"use" doc:"data: blocks took it; possible: at least one of those that are possible carried blocks, and the library does not say which; control: only wiring up, signals and acknowledgements took it." schema:"enum=data|possible|control"`
	// Emulated says that blocks took it as active messages which a processor at the
	// other end copies, because no transport there is writes or reads its memory.
	Emulated bool `json:"emulated,omitzero" doc:"Blocks took it as active messages that a processor at the other end copies."`
	// Opaque says that the library has further transports beneath this one and does
	// not say which it used.
	Opaque bool  `json:"opaque,omitzero" doc:"The library has further transports beneath it and does not say which it used."`
	Ranks  []int `json:"ranks"` // that used it, ascending
}

// The uses of a transport.
const (
	DataUse = "data" // blocks, all or some of them
	// PossibleUse: of all transports with this use at least one carried blocks, and the
	// library does not say which.
	PossibleUse = "possible"
	ControlUse  = "control" // wiring up, signals, acknowledgements: no block
)

var uses = []string{DataUse, PossibleUse, ControlUse}

// String names the transport: "rc_mlx5/mlx5_0:1".
func (t Transport) String() string {
	switch {
	case t.Name == "":
		return "one that the fabric does not name"
	case t.Device != "":
		return t.Name + "/" + t.Device
	}
	return t.Name
}

// Data says whether blocks took it, or may have.
func (t Transport) Data() bool { return t.Use != ControlUse }

// CarriedBy says what of a list carried data, and which ranks used what where these
// differ. "" if nothing did. Of transports that are merely possible at least one was
// used if none was for certain.
func CarriedBy(list []Transport) string {
	list = slices.DeleteFunc(slices.Clone(list), func(t Transport) bool { return !t.Data() })
	texts := map[bool][]string{} // by whether it is certain
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

// TransportTexts names transports, and the ranks that used them where these differ.
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

// mostRanks is how many ranks a message lists.
const mostRanks = 8

// RanksText names the ranks that used it: "ranks 0, 1".
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

// MergeTransports gathers what ranks say, each transport once with all its ranks,
// those that carried data first.
func MergeTransports(list []Transport) []Transport {
	var out []Transport
	for _, t := range list {
		same := func(o Transport) bool {
			return o.Name == t.Name && o.Device == t.Device && o.Use == t.Use && o.Emulated == t.Emulated &&
				o.Opaque == t.Opaque
		}
		i := slices.IndexFunc(out, same)
		if i < 0 {
			t.Ranks = slices.Clone(t.Ranks)
			out = append(out, t)
			continue
		}
		out[i].Ranks = append(out[i].Ranks, t.Ranks...)
	}
	for i := range out {
		slices.Sort(out[i].Ranks)
		out[i].Ranks = slices.Compact(out[i].Ranks)
	}
	slices.SortStableFunc(out, func(a, b Transport) int {
		return cmp.Or(cmp.Compare(slices.Index(uses, a.Use), slices.Index(uses, b.Use)), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Device, b.Device))
	})
	return out
}
