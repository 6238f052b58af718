package output

import (
	"math/big"
	"strings"
)

// take sets an existing key in the row.
func (k *keyData) take(place *jsonValue, row *Row) error {
	n := place.first(k.Path)
	if n == nil || place.first(k.Unless) != nil {
		return nil
	}
	if !n.isScalar() {
		return at(n.line, "%s: %s instead of a text", label(k.Path[0]), n.kind)
	}
	row.At[k.Name] = n.text
	return nil
}

// isScalar reports whether a value is a text, a number or the like.
func (n *jsonValue) isScalar() bool {
	return n.kind == number || n.kind == text || n.kind == boolean || n.kind == noNumeral
}

// take sets an existing metric in the row.
func (m *metricData) take(place *jsonValue, row *Row) error {
	if n := place.first(m.If); m.If != nil && (n == nil || n.says("0")) {
		return nil
	}
	for _, path := range m.Path {
		s := m.In.scale
		in, rest, own := strings.Cut(path, ": ")
		if own {
			s, path = scales[in], rest
		}
		if m.In.said != nil && !own {
			said, err := m.said(place, path)
			if err != nil {
				return err
			}
			s = said
		}
		if n := place.find(path); n != nil {
			return m.set(n, place, label(path), s, row)
		}
	}
	return nil
}

// said returns the unit that a member beside the value names.
func (m *metricData) said(place *jsonValue, path string) (scale, error) {
	of := path[:strings.LastIndexByte(path, '.')]
	parent, unit := place.find(of), place.first(texts{of + ".unit", of + ".units"})
	if parent == nil {
		return same, nil
	}
	if unit == nil {
		return same, at(parent.line, "%s has no unit", label(of))
	}
	s, ok := m.In.said[unit.text]
	if !ok {
		return same, at(unit.line, "%s has the unknown unit %s", label(of), quote(unit.text))
	}
	return s, nil
}

func (m *metricData) set(n, place *jsonValue, label string, s scale, row *Row) (err error) {
	if m.Rest != nil {
		if rest := place.first(m.Rest); rest != nil {
			row.Values[m.Name], err = share(n, rest)
		}
		return err
	}
	if more := place.first(m.Plus); more != nil {
		both, err := counts(n, more)
		if err != nil {
			return err
		}
		n = &jsonValue{line: n.line, kind: number, text: both[0].Add(both[0], both[1]).FloatString(0)}
	}
	if n.kind == noNumeral {
		return at(n.line, "%s: %s is not a number", label, n.text)
	}
	if n.kind != number && (n.kind != text || !isDecimal(n.text)) { // genai-perf of 2024 writes texts
		return at(n.line, "%s: %s instead of a number", label, n.kind)
	}
	v, err := s.signed(n.text)
	if !m.Signed {
		v, err = s.of(n.text)
	}
	if err != nil {
		return at(n.line, "%s: %w", label, err)
	}
	if v != 0 || m.Zero != "absent" {
		row.Values[m.Name] = v
	}
	return nil
}

// label formats a path for messages.
func label(path string) string {
	var all []string
	steps, _ := parsePath(path) // it was parsed when it was loaded
	for _, s := range steps {
		all = append(all, s.member)
	}
	return strings.Join(all, "/")
}

// counts returns two counts.
func counts(a, b *jsonValue) (both [2]*big.Rat, err error) {
	for i, n := range []*jsonValue{a, b} {
		text, _ := strings.CutSuffix(n.text, ".0")
		if n.kind != number || !isCount(text) {
			return both, at(n.line, "%s is not a count", quote(n.text))
		}
		both[i], _ = new(big.Rat).SetString(text)
	}
	return both, nil
}

// share returns one count as a part of the sum of both.
func share(of, other *jsonValue) (float64, error) {
	both, err := counts(of, other)
	if err != nil {
		return 0, err
	}
	all := new(big.Rat).Add(both[0], both[1])
	if all.Sign() == 0 {
		return 0, at(of.line, "no request succeeded and none failed")
	}
	v, _ := both[0].Quo(both[0], all).Float64()
	return v, nil
}
