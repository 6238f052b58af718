package fabric

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"weir/results"
)

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

// UCX writes to its log at its end which protocols it used, where UCX_PROTO_INFO is "used" (1.16
// and later):
//
//	| weir-rank-0 intra-node cfg#1                                    |
//	| remote memory write by ucp_put*(multi) from host memory to host |
//	| Count | Range  | Description | Config                           |
//	|   704 | 0..inf | zero-copy   | 52% on tcp/lo and 48% on tcp/eth0 |
//
// Tables without counts are of other values of the variable, and list what UCX would use.
var (
	ucxRange  = regexp.MustCompile(`^(\d+)(?:\.\.(\d+|inf))?$`)
	ucxConfig = regexp.MustCompile(`([A-Za-z]\w*)/([^\s,/]+)`)
)

const (
	ucxWrites   = "remote memory write by ucp_put"
	ucxReads    = "remote memory read by ucp_get"
	ucxEmulates = "software emulation"
)

func ucxUsed(log string) []Beneath {
	var all []Beneath
	var of, op string
	counted := false
	for line := range strings.Lines(log) {
		cells := tableCells(line)
		switch {
		case len(cells) == 1 && strings.Contains(cells[0], " cfg#"):
			of, op, counted = cells[0], "", false
		case len(cells) == 1:
			op = cells[0]
		case len(cells) == 4 && cells[0] == "Count":
			counted = true
		case len(cells) == 4 && counted && !strings.Contains(of, " self cfg#"):
			all = append(all, ucxRow(op, cells)...)
		}
	}
	return all
}

// tableCells are the cells of a line of a table of UCX.
func tableCells(line string) []string {
	from, to := strings.IndexByte(line, '|'), strings.LastIndexByte(line, '|')
	if from < 0 || to <= from {
		return nil
	}
	cells := strings.Split(line[from+1:to], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func ucxRow(op string, cells []string) []Beneath {
	read := strings.HasPrefix(op, ucxReads)
	count, err := strconv.ParseUint(cells[0], 10, 64)
	sizes := ucxRange.FindStringSubmatch(cells[1])
	if !read && !strings.HasPrefix(op, ucxWrites) || err != nil || count == 0 || sizes == nil {
		return nil
	}
	b := Beneath{Read: read, Row: cells[3], Emulated: strings.Contains(cells[2], ucxEmulates)}
	if b.Low, err = strconv.ParseUint(sizes[1], 10, 64); err != nil {
		return nil
	}
	b.High = b.Low
	if sizes[2] == "inf" {
		b.High = math.MaxUint64
	} else if sizes[2] != "" {
		if b.High, err = strconv.ParseUint(sizes[2], 10, 64); err != nil {
			return nil
		}
	}
	var all []Beneath
	for _, m := range ucxConfig.FindAllStringSubmatch(cells[3], -1) {
		b.Name, b.Device = m[1], m[2]
		all = append(all, b)
	}
	return all
}
