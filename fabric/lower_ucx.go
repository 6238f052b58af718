package fabric

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// UCX logs the protocols that it used when it ends, if UCX_PROTO_INFO is "used" (1.16 and later):
//
//	| weir-rank-0 intra-node cfg#1                                    |
//	| remote memory write by ucp_put*(multi) from host memory to host |
//	| Count | Range  | Description | Config                           |
//	|   704 | 0..inf | zero-copy   | 52% on tcp/lo and 48% on tcp/eth0 |
//
// Other values of the variable give tables without counts, which list what UCX would use.
var (
	ucxRange  = regexp.MustCompile(`^(\d+)(?:\.\.(\d+|inf))?$`)
	ucxStage  = regexp.MustCompile(`\b(?:cuda_copy|gdr_copy)\b`)
	ucxCopies = regexp.MustCompile(`\bcopy-(?:in|out)\b|` + ucxEmulates)
	ucxConfig = regexp.MustCompile(`([A-Za-z]\w*)/([^\s,/]+)`)
)

const (
	ucxWrites   = "remote memory write by ucp_put"
	ucxReads    = "remote memory read by ucp_get"
	ucxEmulates = "software emulation"
)

func ucxUsed(log string) []LowerTransport {
	var all []LowerTransport
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

// tableCells splits a line of a UCX table into its cells.
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

func ucxRow(op string, cells []string) []LowerTransport {
	read := strings.HasPrefix(op, ucxReads)
	count, err := strconv.ParseUint(cells[0], 10, 64)
	sizes := ucxRange.FindStringSubmatch(cells[1])
	if !read && !strings.HasPrefix(op, ucxWrites) || err != nil || count == 0 || sizes == nil {
		return nil
	}
	b := LowerTransport{Read: read, Row: cells[3], Emulated: strings.Contains(cells[2], ucxEmulates)}
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
	var all []LowerTransport
	for _, m := range ucxConfig.FindAllStringSubmatch(cells[3], -1) {
		b.Name, b.Device = m[1], m[2]
		all = append(all, b)
	}
	if by := ucxStages(op, cells[2]); by != "" {
		b.Name, b.Device = by, ""
		all = append(all, b)
	}
	return all
}

// ucxStages returns the transport by which UCX copied GPU memory to or from the host for a protocol; "": it did not.
// Versions before 1.20 describe such copies of put and get without naming it.
func ucxStages(op, description string) string {
	named := ucxStage.FindString(description)
	if named == "" && strings.Contains(op, "cuda") && ucxCopies.MatchString(description) {
		return "cuda_copy"
	}
	return named
}
