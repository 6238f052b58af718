package workload

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/matrix"
)

// What a rank sends to itself is apart from what crosses between ranks, in both
// workloads that have matrices, and is left out or refused where the option says so.
func TestOwnCellsAreApart(t *testing.T) {
	const text = "4: 0>2=1048576,3=7 2>2=9,3=5120 3>3=5120"
	for _, k := range []*Kind{Traffic, TrafficSequence} {
		for option, own := range map[any]string{nil: "4: 2>2=9 3>3=5120", "copy": "4: 2>2=9 3>3=5120", "ignore": ""} {
			v := Values{"matrix": text}
			if option != nil {
				v["own_cells"] = option
			}
			o, err := k.Decode(v)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if o.Own != nil {
				got = o.Own.Compact()
			}
			if got != own || o.Matrix.Compact() != "4: 0>2=1048576,3=7 2>3=5120" || o.OwnBytes(3) != int64(5120*min(len(own), 1)) || o.OwnBytes(0) != 0 {
				t.Errorf("%s, own_cells %v: moves %s and copies %q", k.Name, option, o.Matrix.Compact(), got)
			}
		}
		if _, err := k.Decode(Values{"matrix": text, "own_cells": "error"}); err == nil || !strings.Contains(err.Error(), "rank 2 sends 9B to itself, and own_cells is error") {
			t.Errorf("%s: %v", k.Name, err)
		}
		if err := k.Check(Values{"matrix": "2: 0>0=5"}); err == nil || !strings.Contains(err.Error(), "all cells but those of ranks with themselves are 0") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	o, err := TrafficSequence.Decode(Values{"matrix": "4: 0>1=5 3>3=5"})
	if err != nil || !slices.Equal(o.Members(), []int{0, 1, 3}) {
		t.Errorf("%v meet, %v", o.Members(), err)
	}
}

// A case has the option only if its matrix has own cells, so that others are the cases
// that they were before there was the option.
func TestOnlyMatricesWithOwnCellsHaveTheOption(t *testing.T) {
	for text, want := range map[string]bool{"2: 0>1=5": false, "2: 0>1=5 1>1=7": true, "12: 1>11=5 11>1=5": false} {
		v := Traffic.Applicable(Values{"matrix": text, "own_cells": "copy"})
		if _, has := v["own_cells"]; has != want {
			t.Errorf("%s: %v", text, v)
		}
	}
}

func TestHasOwnCellsIsWhatTheMatrixSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "ranks")
		var cells []matrix.Cell
		seen := map[[2]int]bool{}
		for range rapid.IntRange(0, 8).Draw(t, "cells") {
			c := matrix.Cell{From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"), Bytes: 5}
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
		if count, bytes := OwnCells(m.Compact()); HasOwnCells(m.Compact()) != (want > 0) || count != want || bytes != int64(5*want) {
			t.Errorf("%s has %d own cells of %d bytes", m.Compact(), count, bytes)
		}
	})
}
