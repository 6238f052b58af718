package option_test

import (
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"

	"pgregory.net/rapid"
)

func TestHasOwnCellsIsWhatTheMatrixSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "ranks")
		var cells []matrix.Cell
		seen := map[[2]int]bool{}
		for range rapid.IntRange(0, 8).Draw(t, "cells") {
			c := matrix.Cell{
				From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"), Bytes: 5,
			}
			if !seen[[2]int{c.From, c.To}] {
				seen[[2]int{c.From, c.To}] = true
				cells = append(cells, c)
			}
		}
		m, err := matrix.New(n, cells)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, c := range cells {
			if c.From == c.To {
				want++
			}
		}
		if count, bytes := option.OwnCells(m.Compact()); option.HasOwnCells(m.Compact()) != (want > 0) ||
			count != want || bytes != int64(5*want) {
			t.Errorf("%s has %d own cells of %d bytes", m.Compact(), count, bytes)
		}
	})
}
