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

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// notRun is the reason of a case that has not run.
const notRun = results.NotRun

// newDocument is the document of a new session.
func newDocument(p *planner.Plan, o Options, started time.Time) *results.Document {
	d := &results.Document{
		Schema: results.Schema,
		Session: results.Session{
			ID: o.SessionID, Started: started, Argv: o.Argv, Again: o.Again, Status: results.Errored,
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
			continue // background load is never judged: it runs as often as its foreground
		}
		for _, key := range g.Cases {
			looks[key] = looksOf(g, o)
		}
	}
	runs := map[string]*planner.Run{}
	for _, r := range p.Runs {
		runs[r.Name] = r
		for name, note := range r.VariantNotes {
			if d.Scenario.VariantNotes == nil {
				d.Scenario.VariantNotes = map[string]string{}
			}
			d.Scenario.VariantNotes[name] = note
		}
		if r.BaselineVariant != "" {
			d.Gains = append(d.Gains, &results.Gains{Run: r.Name, Baseline: r.BaselineVariant, Rows: []*results.Gain{}})
		}
	}
	for _, c := range p.Claims {
		d.Claims = append(d.Claims, &results.Claim{Claim: c, Status: results.ClaimNotMeasured, Message: notRun})
	}
	for _, c := range p.Cases {
		r := &results.Case{
			Key: c.Key, ID: c.ID, Run: c.Run, Workload: c.Workload, Axes: c.Axes, AxisOrder: c.AxisOrder,
			Options: c.Options.Plain(), Later: deferredNames(c),
			Env: c.Env, Unset: c.Unset, Secrets: slices.Sorted(maps.Keys(c.Secrets)),
			Status: results.Skipped, Reason: notRun,
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
			at := commonLooks(looks, append(a.Cases, c.Key), a)
			r.Assertions = append(r.Assertions, o.newVerdict(c.Key, a, at, r.Reason))
		}
		d.Cases = append(d.Cases, r)
	}
	for _, a := range p.Assertions {
		d.Assertions = append(d.Assertions, o.newVerdict("", a, commonLooks(looks, a.Cases, a), notRun))
	}
	return d
}

// deferredNames are the options and variables of a case that are expressions over results of other runs.
func deferredNames(c *planner.Case) (names []string) {
	for name, v := range c.Options {
		if _, ok := v.(option.Deferred); ok {
			names = append(names, name)
		}
	}
	for _, name := range c.EnvLater {
		names = append(names, "env."+name)
	}
	slices.Sort(names)
	return names
}

// looksOf are the numbers of launches of a group at which the gate judges (its interim analyses).
func looksOf(g *planner.LaunchGroup, o Options) []int {
	switch {
	case o.Launches > 0:
		return []int{o.Launches}
	case len(g.Looks) == 0:
		return []int{1}
	}
	return g.Looks
}

// commonLooks are the looks of an assertion over several cases: those of the case with the fewest launches.
func commonLooks(looks map[string][]int, keys []string, a assertion.Assertion) []int {
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

// newVerdict is the unjudged verdict of an assertion about a case; key "": about several.
func (o Options) newVerdict(key string, a assertion.Assertion, looks []int,
	message string) *results.AssertionVerdict {
	v := &results.AssertionVerdict{Assertion: a, Looks: looks, Verdict: results.SkippedVerdict, Message: message}
	if o.OpenBefore != nil {
		v.OpenBefore = o.OpenBefore(key, a)
	}
	return v
}

// SetEnvironment puts the nodes and the shell's variables into the document.
func (l *Ledger) SetEnvironment(nodes []results.Node, variables map[string]string) {
	e := &l.Doc.Environment
	e.Nodes, e.Variables = nodes, variables
	e.Fingerprint = fingerprint(*e)
}

// AddNode puts a node that replaces another into the document. The fingerprint stays that of the first nodes.
func (l *Ledger) AddNode(n results.Node) {
	e := &l.Doc.Environment
	if e.Fingerprint == "" || slices.ContainsFunc(e.Nodes, func(o results.Node) bool { return o.Name == n.Name }) {
		return // the session has not begun, or the node is known
	}
	e.Nodes = append(e.Nodes, n)
	l.Events.Emit(event.Event{Type: event.NodeReady, Node: n.Name})
}

// comparableNode is a node without properties that do not affect results.
func comparableNode(n results.Node) results.Node {
	n.Name, n.SameHost, n.Labels, n.ClockOffset, n.StampClock, n.Counters = "", "", nil, results.ClockOffset{}, "", nil
	n.Load, n.Running = 0, 0
	n.CPU.Cache = nil     // older sessions lack it, and it follows from the model
	n.Memory.Total >>= 30 // the kernel's own part differs from boot to boot
	var nics []results.NIC
	for _, nic := range n.NICs {
		// virtual interfaces, which come and go, have no driver; the speed is known only while a link is up
		if nic.Driver != "" {
			nics = append(nics, results.NIC{Driver: nic.Driver, MTU: nic.MTU})
		}
	}
	slices.SortFunc(nics, func(a, b results.NIC) int { // they were sorted by name
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

// fingerprint is equal for environments with comparable results. Names, free memory and states of links are no part
// of it.
func fingerprint(e results.Environment) string {
	kinds := environ.Pairs(e.Variables)
	for _, n := range e.Nodes {
		b, err := json.Marshal(comparableNode(n))
		if err != nil {
			panic(err) // strings and integers always encode
		}
		kinds = append(kinds, string(b))
	}
	slices.Sort(kinds)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(fmt.Sprint(kinds))))
}
