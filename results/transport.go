package results

import (
	"cmp"
	"slices"
)

// Transport is one way that messages of a launch took, as the library of its
// fabric names it.
type Transport struct {
	Name   string `json:"name"` // posix, rc_mlx5, tcp;ofi_rxm, …; "" where the fabric does not say
	Device string `json:"device,omitempty"`
	Use    string `json:"use"` // data | possible | control
	// Emulated says that blocks took it as active messages which a processor at the
	// other end copies, because no transport there is writes or reads its memory.
	Emulated bool `json:"emulated,omitempty"`
	// Opaque says that the library has further transports beneath this one and does
	// not say which it used.
	Opaque bool  `json:"opaque,omitempty"`
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

// MergeTransports gathers what ranks say, each transport once with all its ranks,
// those that carried data first.
func MergeTransports(list []Transport) []Transport {
	var out []Transport
	for _, t := range list {
		same := func(o Transport) bool {
			return o.Name == t.Name && o.Device == t.Device && o.Use == t.Use && o.Emulated == t.Emulated && o.Opaque == t.Opaque
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
		return cmp.Or(cmp.Compare(slices.Index(uses, a.Use), slices.Index(uses, b.Use)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Device, b.Device))
	})
	return out
}
