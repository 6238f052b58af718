package tooloutput

import (
	"math/big"
	"strings"
)

// member is where in a document a metric stands.
type member struct {
	metric string
	path   string // names of members with / between them
	unit   scale
	noZero bool // 0 stands for no number
	signed bool // may be negative, as what two clocks say
}

// read gives the row the metrics whose members are there.
func (r *Row) read(n *node, members []member) error {
	for _, m := range members {
		found := n.get(strings.Split(m.path, "/")...)
		if found == nil {
			continue
		}
		if found.kind != number {
			return at(found.line, "%s: %s where a number is due", m.path, found.kind)
		}
		v, err := m.unit.of(found.text)
		if m.signed {
			v, err = m.unit.signed(found.text)
		}
		if err != nil {
			return at(found.line, "%s: %w", m.path, err)
		}
		if v != 0 || !m.noZero {
			r.Values[m.metric] = v
		}
	}
	return nil
}

// spread are the metrics of a distribution, from a prefix and the names that a tool gives
// to its parts.
func spread(metric, path string, unit scale, parts map[string]string) []member {
	var all []member
	for _, part := range sortedNames(parts) {
		all = append(all, member{metric: metric + "." + part, path: path + "/" + parts[part], unit: unit})
	}
	return all
}

// spreadMetrics declares avg, p50 and so on of a time.
func spreadMetrics(name, doc string, zero bool, parts ...string) []Metric {
	var all []Metric
	for i, part := range parts {
		m := Metric{Name: name + "." + part, Unit: "s", Better: Lower, MayBeZero: zero,
			Doc: "the same, " + partNames[part]}
		if i == 0 {
			m.Doc = doc + ": " + partNames[part]
		}
		all = append(all, m)
	}
	return all
}

var partNames = map[string]string{
	"avg": "mean", "min": "the least", "max": "the greatest", "p50": "median",
	"p90": "90th percentile", "p95": "95th percentile", "p99": "99th percentile", "p999": "99.9th percentile",
}

// share is one count as a part of itself and another.
func share(of, other *node) (float64, error) {
	var counts [2]*big.Rat
	for i, n := range []*node{of, other} {
		if n.kind != number || !isCount(n.text) {
			return 0, at(n.line, "%s is no count", quote(n.text))
		}
		counts[i], _ = new(big.Rat).SetString(n.text)
	}
	all := new(big.Rat).Add(counts[0], counts[1])
	if all.Sign() == 0 {
		return 0, at(of.line, "no request succeeded and none failed")
	}
	v, _ := counts[0].Quo(counts[0], all).Float64()
	return v, nil
}
