package sim

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// options returns the options of a transfer over fabric sim; set overrides the defaults.
func options(t testing.TB, set option.Values) move.Spec {
	t.Helper()
	v := option.Values{"fabric": "sim", "block_size": quantity.Size(1 << 20)}
	for name, value := range set {
		v[name] = value
	}
	o, err := transfer.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// still are options of a path without variation.
func still(set option.Values) option.Values {
	v := option.Values{"sim_noise": quantity.Percent(0), "sim_jitter": quantity.Percent(0)}
	for name, value := range set {
		v[name] = value
	}
	return v
}

// launchOf is a launch of cases with these options, which have the same number of ranks.
func launchOf(index int, cases ...move.Spec) engine.Launch {
	l := engine.Launch{
		ID: fmt.Sprint("g-", index), Index: index, Fabric: "sim", Ranks: int(cases[0].Ranks), Seed: uint64(index) + 1,
	}
	for i, o := range cases {
		l.Cases = append(l.Cases, caseOf(fmt.Sprint("case", i), o))
	}
	for range l.Ranks {
		l.Nodes = append(l.Nodes, "sim-1")
	}
	return l
}

// caseOf is a case as encoded for a rank.
func caseOf(key string, o move.Spec) engine.Case {
	c, err := engine.NewCase(key, &o, 0, nil)
	if err != nil {
		panic(err)
	}
	return c
}

// specOf decodes the movement of a case.
func specOf(t testing.TB, c engine.Case) move.Spec {
	t.Helper()
	o, err := move.Read(c.Spec, c.Large)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// played is a simulated launch with decoded parts.
type played struct {
	*engine.Played
	Cases []playedCase
}

type playedCase struct {
	engine.PlayedCase
	Ranks []*move.Part
}

func play(t testing.TB, s *Session, l engine.Launch) *played {
	t.Helper()
	p, err := s.Play(l)
	if err != nil {
		t.Fatal(err)
	}
	out := &played{Played: p}
	for _, c := range p.Cases {
		ranks, err := decoded(c.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		out.Cases = append(out.Cases, playedCase{c, ranks})
	}
	return out
}

func decoded(parts []*workload.Part) (ranks []*move.Part, err error) {
	for _, p := range parts {
		r, err := move.Decode(p)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, r)
	}
	return ranks, nil
}

// metrics returns those of the first case of a launch that must succeed.
func metrics(t testing.TB, s *Session, l engine.Launch) map[string]float64 {
	t.Helper()
	p := play(t, s, l)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	m, err := transfer.Metrics(specOf(t, l.Cases[0]), p.Cases[0].Ranks)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
