package fabric

import "weir/results"

// Beneath is one transport that a library beneath the fabric's own says it used, for requests
// of some sizes. Transports of one Row carried parts of the same requests.
type Beneath struct {
	Read     bool   `json:"read,omitzero"` // requests read from the peer's memory; otherwise they wrote
	Low      uint64 `json:"low"`           // bytes of a request, both included
	High     uint64 `json:"high"`
	Name     string `json:"name"`
	Device   string `json:"device,omitempty"`
	Emulated bool   `json:"emulated,omitzero"` // by messages that a processor at the other end copies
	Row      string `json:"row"`
}

// BeneathIn finds in a rank's log what the library beneath a fabric says of itself; nil where
// it says nothing.
func BeneathIn(name, log string) []Beneath {
	f, ok := Find(name)
	if !ok || f.Beneath == nil {
		return nil
	}
	return f.Beneath(log)
}

// CarriedBeneath are the transports beneath one that does not name them, for requests of a
// size (0: of several, or unknown): certain where one row of the library's table is about
// them, possible where several are; nil where none is.
func CarriedBeneath(all []Beneath, read bool, size uint64, rank int) []results.Transport {
	var fit []Beneath
	rows := map[string]bool{}
	for _, b := range all {
		if b.Read == read && (size == 0 || b.Low <= size && size <= b.High) {
			fit = append(fit, b)
			rows[b.Row] = true
		}
	}
	use := results.DataUse
	if len(rows) > 1 {
		use = results.PossibleUse
	}
	var out []results.Transport
	for _, b := range fit {
		out = append(out, results.Transport{
			Name: b.Name, Device: b.Device, Use: use, Emulated: b.Emulated, Ranks: []int{rank},
		})
	}
	return results.MergeTransports(out)
}
