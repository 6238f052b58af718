package matrix

import (
	"fmt"
	"strconv"
	"strings"
)

// Compact writes the matrix as one word for each sender after the number of ranks,
// as "4: 0>1=1048576,2=5 3>0=7": its length is that of the cells that are not zero.
// Equal matrices have equal texts.
func (m *Matrix) Compact() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(m.ranks))
	b.WriteByte(':')
	last := -1
	for c := range m.Cells() {
		if c.From != last {
			b.WriteByte(' ')
			b.WriteString(strconv.Itoa(c.From))
			b.WriteByte('>')
		} else {
			b.WriteByte(',')
		}
		last = c.From
		b.WriteString(strconv.Itoa(c.To))
		b.WriteByte('=')
		b.WriteString(strconv.FormatInt(c.Bytes, 10))
	}
	return b.String()
}

// ParseCompact reads what Compact writes.
func ParseCompact(text string) (*Matrix, error) {
	head, rest, ok := strings.Cut(text, ":")
	ranks, err := strconv.Atoi(head)
	if !ok || err != nil {
		return nil, fmt.Errorf("a matrix begins with its number of ranks and a colon, not with %.20q", text)
	}
	var cells []Cell
	for row := range strings.FieldsSeq(rest) {
		sender, list, _ := strings.Cut(row, ">")
		from, err := strconv.Atoi(sender)
		if err != nil {
			return nil, fmt.Errorf("%.20q is no sender", row)
		}
		for cell := range strings.SplitSeq(list, ",") {
			to, bytes, _ := strings.Cut(cell, "=")
			c := Cell{From: from}
			if c.To, err = strconv.Atoi(to); err == nil {
				c.Bytes, err = strconv.ParseInt(bytes, 10, 64)
			}
			if err != nil {
				return nil, fmt.Errorf("%.40q of rank %d is no receiver with its bytes", cell, from)
			}
			if len(cells) == MaxCells {
				return nil, errCells
			}
			cells = append(cells, c)
		}
	}
	return New(ranks, cells)
}

// MarshalText is Compact: a matrix is a string in JSON.
func (m *Matrix) MarshalText() ([]byte, error) { return []byte(m.Compact()), nil }

// UnmarshalText is ParseCompact.
func (m *Matrix) UnmarshalText(text []byte) error {
	read, err := ParseCompact(string(text))
	if err == nil {
		*m = *read
	}
	return err
}
