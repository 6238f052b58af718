package matrix

import (
	"fmt"
	"strconv"
	"strings"
)

// Compact formats the matrix as the number of ranks and one word for each sender, as "4:
// 0>1=1048576,2=5 3>0=7". Its length depends only on the cells that are not zero. Equal matrices
// have equal texts.
func (m *Matrix) Compact() string { return string(m.compact()) }

func (m *Matrix) compact() []byte {
	const usual = 12 // bytes of a typical cell: a rank, and megabytes to the byte
	b := make([]byte, 0, 8+usual*m.NonZero())
	b = append(strconv.AppendInt(b, int64(m.ranks), 10), ':')
	last := -1
	for c := range m.Cells() {
		if c.From != last {
			b = append(b, ' ')
			b = append(strconv.AppendInt(b, int64(c.From), 10), '>')
		} else {
			b = append(b, ',')
		}
		last = c.From
		b = append(strconv.AppendInt(b, int64(c.To), 10), '=')
		b = strconv.AppendInt(b, c.Bytes, 10)
	}
	return b
}

// ParseCompact parses the output of Compact.
func ParseCompact(text string) (*Matrix, error) {
	head, rest, ok := strings.Cut(text, ":")
	ranks, err := strconv.Atoi(head)
	if !ok || err != nil {
		return nil, fmt.Errorf("a matrix begins with its number of ranks and a colon, not with %.20q", text)
	}
	cells := make([]Cell, 0, min(strings.Count(rest, "="), MaxCells))
	for row := range strings.FieldsSeq(rest) {
		sender, list, _ := strings.Cut(row, ">")
		from, err := strconv.Atoi(sender)
		if err != nil {
			return nil, fmt.Errorf("%.20q is not a sender", row)
		}
		for cell := range strings.SplitSeq(list, ",") {
			to, bytes, _ := strings.Cut(cell, "=")
			c := Cell{From: from}
			if c.To, err = strconv.Atoi(to); err == nil {
				c.Bytes, err = strconv.ParseInt(bytes, 10, 64)
			}
			if err != nil {
				return nil, fmt.Errorf("%.40q of rank %d is not a receiver with its bytes", cell, from)
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
func (m *Matrix) MarshalText() ([]byte, error) { return m.compact(), nil }

// UnmarshalText is ParseCompact.
func (m *Matrix) UnmarshalText(text []byte) error {
	read, err := ParseCompact(string(text))
	if err == nil {
		*m = *read
	}
	return err
}
