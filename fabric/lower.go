package fabric

import "github.com/weir-bench/weir/results"

// LowerTransport is a transport that a library below the fabric's own reports it used for a range of request sizes,
// as UCX below NIXL does. Transports of one Row carried parts of the same requests.
type LowerTransport struct {
	Read     bool   `json:"read,omitzero"` // requests read from the peer's memory; otherwise they wrote
	Low      uint64 `json:"low"`           // bytes of a request, both included
	High     uint64 `json:"high"`
	Name     string `json:"name"`
	Device   string `json:"device,omitempty"`
	Emulated bool   `json:"emulated,omitzero"` // by messages that a processor at the other end copies
	Row      string `json:"row"`
}

// LowerTransportsIn parses the lower transports of a fabric from a rank's log; nil if the log has none.
func LowerTransportsIn(name, log string) []LowerTransport {
	f, ok := Find(name)
	if !ok || f.LowerTransports == nil {
		return nil
	}
	return f.LowerTransports(log)
}

// LowerTransportsFor selects the lower transports for requests of a size in bytes (0: several sizes, or unknown). Their
// use is certain if all are of one row of the library's table, else possible.
func LowerTransportsFor(all []LowerTransport, read bool, size uint64, rank int) []results.Transport {
	var fit []LowerTransport
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
