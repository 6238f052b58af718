package option

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
)

const (
	// MostRanks is the maximum number of processes of a launch, and of ranks of a matrix: the
	// engine numbers them with 10 bits, and a matrix then has a million cells.
	MostRanks = 1024
	// MostSimulated is the maximum number of ranks of a launch of fabric sim.
	MostSimulated = 8192
)

// MostProcesses is the maximum number of ranks of a launch that are processes. It is a variable so
// that tests can simulate more.
var MostProcesses int64 = MostRanks

// ParseMatrix reads the text of a matrix: the output of matrix.Compact, or the published form with
// a row on each line.
func ParseMatrix(text string) (*matrix.Matrix, error) {
	if text = strings.TrimSpace(text); strings.Contains(text, ":") { // sizes have no colon
		m, err := matrix.ParseCompact(text)
		if err != nil {
			return nil, err
		}
		return m, CheckMatrix(m)
	}
	m, err := matrix.Parse(strings.NewReader(text), "", 0)
	if e, ok := errors.AsType[*matrix.SyntaxError](err); ok {
		return nil, fmt.Errorf("line %d, column %d: %s", e.Line, e.Column, strings.TrimSuffix(e.Detail, "."))
	}
	if err != nil {
		return nil, err
	}
	return m, CheckMatrix(m)
}

// CheckMatrix says why a matrix cannot be traffic between processes.
func CheckMatrix(m *matrix.Matrix) error {
	if n := m.Ranks(); n < 2 || n > MostRanks {
		return fmt.Errorf("traffic between %d ranks: use 2 to %d", n, MostRanks)
	}
	switch others, own := m.Split(); {
	case own == nil && m.NonZero() == 0:
		return errors.New("all cells are 0, so nothing would be sent")
	case others.NonZero() == 0:
		return errors.New("all cells between different ranks are 0, so nothing would be sent")
	}
	if largest := quantity.Size(m.Largest()); largest > mostCell {
		return fmt.Errorf("a cell has %v, more than the limit of %v", largest, mostCell)
	}
	return nil
}

// mostCell is the largest cell, equal to the largest block of a transfer.
const mostCell = quantity.Size(1 << 40)

// ParseCell reads a single cell: as in published files, or with one of weir's units.
func ParseCell(text string) (int64, error) {
	bytes, err := matrix.ParseSize(text)
	if err == nil {
		return bytes, nil
	}
	if size, other := quantity.ParseSize(text); other == nil && size >= 0 {
		return int64(size), nil
	}
	return 0, err
}

// Amount describes a matrix for people.
func Amount(m *matrix.Matrix) string {
	m, own := m.Split()
	cells := "cells"
	if m.NonZero() == 1 {
		cells = "cell"
	}
	text := fmt.Sprintf("%d ranks, %d %s, %v", m.Ranks(), m.NonZero(), cells, quantity.Size(m.Total()))
	if own != nil {
		text += ", " + ownAmount(own)
	}
	return text
}

// Ranks returns the number of ranks of a matrix in compact form.
func Ranks(compact string) (int64, bool) {
	head, _, _ := strings.Cut(compact, ":")
	n, err := strconv.ParseInt(head, 10, 64)
	return n, err == nil
}
