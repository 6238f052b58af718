package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/transfer"
)

// sweptCases are the cases of several runs, as the planner has them.
type sweptCases struct {
	order map[string][]string // keys by run
	byKey map[string]Scope
}

func newCases() *sweptCases {
	return &sweptCases{order: map[string][]string{}, byKey: map[string]Scope{}}
}

func (c *sweptCases) Find(run string, at map[string]string, where *Condition) []string {
	var keys []string
	for _, key := range c.order[run] {
		s := c.byKey[key]
		fits := true
		for axis, text := range at {
			own, has := s.Texts[axis]
			fits = fits && (!has || own == text)
		}
		if fits && where != nil {
			ok, err := where.Eval(s)
			fits = ok && err == nil
		}
		if fits {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *sweptCases) Scope(key string) (Scope, bool) {
	s, ok := c.byKey[key]
	return s, ok
}

// add adds a run with the product of its axes, each a name and its values.
func (c *sweptCases) add(run string, options option.Values, axes ...[]any) {
	points := []map[string]any{{}}
	for _, axis := range axes {
		var longer []map[string]any
		for _, p := range points {
			for _, v := range axis[1:] {
				q := maps.Clone(p)
				q[axis[0].(string)] = v
				longer = append(longer, q)
			}
		}
		points = longer
	}
	for _, p := range points {
		s := Scope{Options: maps.Clone(options), Axes: p, Texts: map[string]string{}, Cases: c}
		var cells []string
		for name, v := range p {
			s.Texts[name] = option.Text(v)
			if _, ok := transfer.Kind.Option(name); ok {
				s.Options[name] = v
			}
			cells = append(cells, name+"="+option.Text(v))
		}
		slices.Sort(cells)
		s.Key = run
		if len(cells) > 0 {
			s.Key = fmt.Sprintf("%s[%s]", run, strings.Join(cells, ","))
		}
		c.order[run] = append(c.order[run], s.Key)
		c.byKey[s.Key] = s
	}
}

const small, large = quantity.Size(4 << 10), quantity.Size(64 << 20)

// rich has a run `main` with two axes, and runs that share axes with it or not.
func rich() (*Names, *sweptCases) {
	c := newCases()
	options := option.Values{
		"block_size": large, "batch": int64(4), "fabric": "tcp", "op": "write", "ranks": int64(2),
	}
	c.add("main", options, []any{"block_size", small, large}, []any{"fabric", "shm", "ucx"})
	c.add("tcp", options, []any{"block_size", small, large})
	c.add("single", options)
	c.add("wide", options, []any{"block_size", small, large}, []any{"threads", int64(1), int64(2), int64(4)},
		[]any{"op", "write", "read"})
	c.add("far", options, []any{"block_size", quantity.Size(1 << 30)})
	runs := map[string]*Names{}
	for run, axes := range map[string][]string{
		"main": {"block_size", "fabric"}, "tcp": {"block_size"}, "single": nil, "wide": {"block_size", "threads", "op"},
		"far": {"block_size"},
	} {
		n := &Names{Kind: transfer.Kind, Run: run, Runs: runs}
		for _, a := range axes {
			n.Axes = append(n.Axes, Axis{Name: a})
		}
		runs[run] = n
	}
	row := func(values map[string]float64, at ...string) ReferenceRow {
		r := ReferenceRow{At: map[string]string{}, Values: values}
		for i := 0; i < len(at); i += 2 {
			r.At[at[i]] = at[i+1]
		}
		return r
	}
	bandwidth := func(v float64) map[string]float64 { return map[string]float64{"bandwidth": v * 1e9} }
	runs["main"].Reference = &Reference{Name: "lab.yaml", Rows: []ReferenceRow{
		row(bandwidth(10), "block_size", "4KiB", "fabric", "shm"),
		row(bandwidth(5), "block_size", "4KiB", "fabric", "ucx"),
		row(bandwidth(46.48), "block_size", "64MiB", "op", "write"),
		row(map[string]float64{"latency.p50": 2e-6}, "block_size", "4KiB"),
		row(map[string]float64{"latency.p50": 3e-6}, "op", "write"),
	}}
	return runs["main"], c
}

// in returns the scopes of the cases of a run that satisfy the assertion's where.
func (c *sweptCases) in(run string, where *Condition) []Scope {
	var out []Scope
	for _, key := range c.Find(run, nil, where) {
		out = append(out, c.byKey[key])
	}
	return out
}

// groups returns the cases of an assertion over several, as the planner makes them.
func (c *sweptCases) groups(a *Assertion) [][]Scope {
	var order []string
	groups := map[string][]Scope{}
	for _, s := range c.in("main", a.Where()) {
		k := ""
		if over := a.OverAxes(); len(over) > 0 {
			rest := without(s.Texts, over)
			for _, axis := range slices.Sorted(maps.Keys(rest)) {
				k += axis + "=" + rest[axis] + " "
			}
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	var out [][]Scope
	for _, k := range order {
		out = append(out, groups[k])
	}
	return out
}
