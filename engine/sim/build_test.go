package sim

import (
	"fmt"
	"testing"

	"weir/engine"
	"weir/quantity"
	"weir/workload"
)

// options are those of a transfer over fabric sim; set wins over the defaults.
func options(t testing.TB, set workload.Values) workload.TransferOptions {
	t.Helper()
	v := workload.Values{"fabric": "sim", "block_size": quantity.Size(1 << 20)}
	for name, value := range set {
		v[name] = value
	}
	o, err := workload.DecodeTransfer(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// still are options of a path without any variation.
func still(set workload.Values) workload.Values {
	v := workload.Values{"sim_noise": quantity.Percent(0), "sim_jitter": quantity.Percent(0)}
	for name, value := range set {
		v[name] = value
	}
	return v
}

// launchOf is a launch of cases with these options; they have one number of ranks.
func launchOf(index int, cases ...workload.TransferOptions) engine.Launch {
	l := engine.Launch{ID: fmt.Sprint("g-", index), Index: index, Fabric: "sim", Ranks: int(cases[0].Ranks), Seed: uint64(index) + 1}
	for i, o := range cases {
		l.Cases = append(l.Cases, engine.Case{Key: fmt.Sprint("case", i), Options: o})
	}
	for range l.Ranks {
		l.Nodes = append(l.Nodes, "sim-1")
	}
	return l
}

func play(t testing.TB, s *Session, l engine.Launch) *engine.Played {
	t.Helper()
	p, err := s.Play(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// metrics are those of the first case of a launch that must go well.
func metrics(t testing.TB, s *Session, l engine.Launch) map[string]float64 {
	t.Helper()
	p := play(t, s, l)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	m, err := engine.TransferMetrics(l.Cases[0], p.Cases[0].Ranks)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
