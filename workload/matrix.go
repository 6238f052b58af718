package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"weir/matrix"
	"weir/quantity"
)

const (
	// MostRanks is how many processes a launch has at most, and ranks a matrix: the engine
	// numbers them with 10 bits, and a matrix has a million cells then.
	MostRanks = 1024
	// MostSimulated is how many ranks a launch of fabric sim has at most.
	MostSimulated = 8192
)

// MostProcesses is how many ranks a launch has at most where each is a process: as many as
// the engine can number. It is no constant so that tests can play more of them.
var MostProcesses int64 = MostRanks

// ParseMatrix reads the text of a matrix that can be moved: what matrix.Compact
// writes, or the published form with a row on each line.
func ParseMatrix(text string) (*matrix.Matrix, error) {
	if text = strings.TrimSpace(text); strings.Contains(text, ":") { // which no size has
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

// CheckMatrix says what is wrong with a matrix as traffic between processes.
func CheckMatrix(m *matrix.Matrix) error {
	if n := m.Ranks(); n < 2 || n > MostRanks {
		return fmt.Errorf("a matrix of %d ranks: traffic is between 2 to %d", n, MostRanks)
	}
	switch others, own := m.Split(); {
	case own == nil && m.NonZero() == 0:
		return errors.New("all cells are 0, so nothing would move")
	case others.NonZero() == 0:
		return errors.New("all cells but those of ranks with themselves are 0, so nothing would move between ranks")
	}
	if largest := quantity.Size(m.Largest()); largest > mostCell {
		return fmt.Errorf("a cell has %v, which is more than %v", largest, mostCell)
	}
	return nil
}

// mostCell is the largest cell, as it is the largest block of a transfer.
const mostCell = quantity.Size(1 << 40)

// ParseCell reads a cell that stands alone: as the published files have it, or
// with a unit of weir's own, which those have not.
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

// Amount is what a matrix amounts to, for a person.
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

// Ranks is how many ranks a matrix has of which this is the text that Compact gives.
func Ranks(compact string) (int64, bool) {
	head, _, _ := strings.Cut(compact, ":")
	n, err := strconv.ParseInt(head, 10, 64)
	return n, err == nil
}
