package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/assertion"
	"weir/executor/environ"
	"weir/executor/event"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// notRun is the reason of a case that has not run so far.
const notRun = results.NotRun

// newDocument is the document of a session that has not run anything.
func newDocument(p *planner.Plan, o Options) *results.Document {
	d := &results.Document{
		Schema: results.Schema,
		Session: results.Session{
			ID: o.SessionID, Started: time.Now().UTC(), Argv: o.Argv, Again: o.Again, Status: results.Errored,
		},
		Weir: o.Version, Quantiles: &results.Quantiles{Definition: results.NearestRankRule},
		Scenario: results.Scenario{
			Name: p.Scenario.Name, Description: p.Scenario.Description, File: p.Scenario.File,
			Digest: p.Scenario.Digest, Variables: p.Scenario.Variables,
		},
		Site:        o.Site,
		Plan:        results.Plan{Digest: p.Digest, Cases: len(p.Cases)},
		Environment: results.Environment{Nodes: []results.Node{}},
		Checks:      []results.Check{},
		Cases:       []*results.Case{},
		Assertions:  []*results.AssertionVerdict{},
		Metrics:     p.Metrics(),
	}
	if policy := p.OpenGates(o.Inconclusive); policy != (assertion.Inconclusive{}) {
		d.Session.Inconclusive = &policy
	}
	for _, n := range o.Noise {
		if slices.ContainsFunc(p.Cases, func(c *planner.Case) bool { return c.Key == n.Case }) {
			d.Noise = append(d.Noise, n)
		}
	}
	looks := map[string][]int{}
	for _, g := range p.Groups {
		if len(g.During) > 0 {
			continue // others decide how often background load runs: it is judged on what there is
		}
		for _, key := range g.Cases {
			looks[key] = looksOf(g, o)
		}
	}
	runs := map[string]*planner.Run{}
	for _, r := range p.Runs {
		runs[r.Name] = r
		if r.BaselineVariant != "" {
			d.Gains = append(d.Gains, &results.Gains{Run: r.Name, Baseline: r.BaselineVariant, Rows: []*results.Gain{}})
		}
	}
	for _, c := range p.Cases {
		r := &results.Case{
			Key: c.Key, ID: c.ID, Run: c.Run, Workload: c.Workload, Axes: c.Axes, AxisOrder: c.AxisOrder,
			Options: c.Options.Plain(), Later: later(c),
			Env: c.Env, Unset: c.Unset, Status: results.Skipped, Reason: notRun,
			Assertions: []*results.AssertionVerdict{},
			Launches:   []*results.Launch{},
		}
		if of := runs[c.Run]; of != nil {
			r.Stage, r.Files = of.Stage, of.Files
			if of.At != nil {
				r.File, r.Line = of.At.File, of.At.Line
			}
			if of.MayFail != nil {
				r.MayFail = &results.MayFail{MayFail: *of.MayFail}
			}
		}
		switch c.Status {
		case planner.Excluded:
			r.Status, r.Reason = results.Excluded, c.Reason
			d.Plan.Excluded++
		case planner.Skipped:
			r.Reason = c.Reason
		}
		for _, a := range c.Assertions {
			looks := looksOver(looks, append(a.Cases, c.Key), a)
			r.Assertions = append(r.Assertions, o.verdict(c.Key, a, looks, r.Reason))
		}
		d.Cases = append(d.Cases, r)
	}
	for _, a := range p.Assertions {
		d.Assertions = append(d.Assertions, o.verdict("", a, looksOver(looks, a.Cases, a), notRun))
	}
	return d
}

// later are the options and variables of a case whose text is an expression over values of runs.
func later(c *planner.Case) (names []string) {
	for name, v := range c.Options {
		if _, ok := v.(workload.Deferred); ok {
			names = append(names, name)
		}
	}
	for _, name := range c.EnvLater {
		names = append(names, "env."+name)
	}
	slices.Sort(names)
	return names
}

func looksOf(g *planner.LaunchGroup, o Options) []int {
	if o.Launches > 0 {
		return []int{o.Launches}
	}
	if len(g.Looks) == 0 {
		return []int{1}
	}
	return g.Looks
}

// looksOver are the looks of an assertion over several cases: those of the case
// that is launched the fewest times, or the last one would never be reached.
func looksOver(looks map[string][]int, keys []string, a assertion.Assertion) []int {
	if a.Subject != nil {
		keys = append(keys[:len(keys):len(keys)], a.Subject.Cases()...)
	}
	var least []int
	for _, key := range keys {
		if own := looks[key]; len(own) > 0 && (least == nil || own[len(own)-1] < least[len(least)-1]) {
			least = own
		}
	}
	return least
}

// verdict is an assertion about a case, "" of one over several, that nobody has judged.
func (o Options) verdict(key string, a assertion.Assertion, looks []int, message string) *results.AssertionVerdict {
	v := &results.AssertionVerdict{Assertion: a, Looks: looks, Verdict: results.SkippedVerdict, Message: message}
	if o.OpenBefore != nil {
		v.OpenBefore = o.OpenBefore(key, a)
	}
	return v
}

// SetEnvironment puts the nodes, and the variables that all of them got, into the document.
func (l *Ledger) SetEnvironment(nodes []results.Node, variables map[string]string) {
	e := &l.Doc.Environment
	e.Nodes, e.Variables = nodes, variables
	e.Fingerprint = fingerprint(*e)
}

// Introduce puts a node into the document that came for another. The fingerprint stays
// that of the nodes that the session began with.
func (l *Ledger) Introduce(n results.Node) {
	e := &l.Doc.Environment
	if e.Fingerprint == "" || slices.ContainsFunc(e.Nodes, func(o results.Node) bool { return o.Name == n.Name }) {
		return // none has begun, or it has come back
	}
	e.Nodes = append(e.Nodes, n)
	l.Events.Emit(event.Event{Type: event.NodeReady, Node: n.Name})
}

// essence is a node without what says nothing of its numbers.
func essence(n results.Node) results.Node {
	n.Name, n.Labels, n.ClockOffset, n.StampClock, n.Counters = "", nil, results.ClockOffset{}, "", nil
	n.Load, n.Running = 0, 0
	n.CPU.Cache = nil     // older sessions do not have it, and the model says it
	n.Memory.Total >>= 30 // what the kernel keeps for itself differs from boot to boot
	var nics []results.NIC
	for _, nic := range n.NICs {
		// bridges and the ends of containers, which come and go, have no driver, and
		// the speed of a link is known only while it is up
		if nic.Driver != "" {
			nics = append(nics, results.NIC{Driver: nic.Driver, MTU: nic.MTU})
		}
	}
	slices.SortFunc(nics, func(a, b results.NIC) int { // names, which they are listed by, are left out
		return cmp.Or(strings.Compare(a.Driver, b.Driver), cmp.Compare(a.MTU, b.MTU))
	})
	n.NICs = nics
	n.NUMA, n.Memory.Hugepages, n.Memory.LockLimit = nil, nil, ""
	n.GPUReason, n.GPUs = "", slices.Clone(n.GPUs)
	for i := range n.GPUs {
		n.GPUs[i] = n.GPUs[i].Lasting()
		n.GPUs[i].Bus, n.GPUs[i].NUMA = "", nil
	}
	var devices []results.RDMA
	for _, d := range n.RDMA {
		ports := slices.Clone(d.Ports)
		for i := range ports {
			ports[i].State = ""
		}
		devices = append(devices, results.RDMA{Driver: d.Driver, Ports: ports})
	}
	n.RDMA = devices
	n.Fabrics = maps.Clone(n.Fabrics)
	for name, f := range n.Fabrics {
		n.Fabrics[name] = results.Fabric{Available: f.Available, Version: f.Version}
	}
	return n
}

// fingerprint is equal for environments whose numbers may be compared. Names,
// free memory and links' momentary states are no part of it.
func fingerprint(e results.Environment) string {
	kinds := environ.Pairs(e.Variables)
	for _, n := range e.Nodes {
		b, err := json.Marshal(essence(n))
		if err != nil {
			panic(err) // a node is strings and whole numbers
		}
		kinds = append(kinds, string(b))
	}
	slices.Sort(kinds)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(fmt.Sprint(kinds))))
}
