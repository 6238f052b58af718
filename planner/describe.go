// Step describe: parts of the scenario that plans contain.

package planner

import (
	"time"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/results/assertion"
)

// describe copies the parts of the scenario and of its runs that the plan contains.
func describe(t *Table) {
	s, p := t.scenario, t.head
	p.Scenario = Scenario{Name: s.Name, Description: s.Description, File: s.File, Variables: map[string]string{}}
	for _, v := range s.Variables {
		p.Scenario.Variables[v.Name] = v.Text
	}
	c := s.Cluster
	p.Cluster = Cluster{
		Nodes: c.Nodes, DistinctHosts: c.DistinctHosts, GPUsPerNode: max(c.GPUsPerNode, t.gpus), Labels: c.Labels,
		Exclusive: c.Exclusive, NICsPerNode: c.NICsPerNode, NICDriver: c.NICDriver, HugePages: c.HugePages,
		LockedMemory: c.LockedMemory,
	}
	p.Checks = []Check{}
	for _, c := range s.Checks {
		check := Check{
			Name: c.Name, Command: c.Command, Launcher: c.Launcher, Remedy: c.Remedy, GPU: c.GPU,
			Cluster: t.clusterCheck(c.Cluster),
		}
		if c.Severity != "error" { // omitted from plans, as in older versions
			check.Severity = c.Severity
		}
		p.Checks = append(p.Checks, check)
	}
	for _, a := range s.Artifacts {
		p.Artifacts = append(p.Artifacts, Artifact{
			Name: a.Name, On: a.On, Command: a.Command, File: a.File, At: a.At, Required: a.Required,
			Timeout: max(a.Timeout, time.Millisecond).Seconds(),
		})
	}
	p.Setup, p.Teardown = commands(s.Setup), commands(s.Teardown)
	p.Baseline, p.BaselineMissing = s.Baseline, s.BaselineMissing
	if policy := s.Inconclusive; policy != (assertion.Inconclusive{}) {
		p.Inconclusive = &policy
	}
	p.Runs = []*Run{}
	for _, run := range t.runs {
		p.Runs = append(p.Runs, describeRun(run.run))
	}
}

// clusterCheck is a check of the cluster with the number of nodes that it is about.
func (t *Table) clusterCheck(c *dsl.ClusterCheck) *ClusterCheck {
	if c == nil {
		return nil
	}
	out := *c
	if !c.OfNodes() {
		out.Nodes = 0
	} else if out.Nodes == 0 {
		out.Nodes = max(1, t.scenario.Cluster.Nodes)
	}
	return &out
}

func describeRun(r *dsl.Run) *Run {
	out := &Run{
		Name: r.Name, Prefix: r.Prefix, Stage: r.Stage, Tags: r.Tags,
		MayFail: r.MayFail, Metrics: r.Metrics, Order: Order(r.Sweep.Order),
		BaselineVariant: r.BaselineVariant(), VariantNotes: r.VariantNotes(),
		Setup: commands(r.Setup), Teardown: commands(r.Teardown),
		LaunchSetup: commands(r.LaunchSetup), LaunchTeardown: commands(r.LaunchTeardown),
	}
	if r.Retry != nil && r.Retry.Times > 0 {
		out.Retry = &Retry{Times: r.Retry.Times, On: r.Retry.On, Wait: r.Retry.Wait.Seconds()}
	}
	if len(r.Phases) > 0 {
		out.Phases = map[string]float64{}
		for name, d := range r.Phases {
			out.Phases[name] = d.Seconds()
		}
	}
	if r.While != nil {
		out.While = r.While.Run
	}
	if r.Range.Start.Line > 0 {
		out.At = &Position{File: r.Range.Filename, Line: r.Range.Start.Line}
	}
	for _, f := range r.DataFiles() {
		if out.Files == nil {
			out.Files = map[string]string{}
		}
		out.Files[f.Option] = f.Path
	}
	return out
}

func commands(list []*dsl.Command) []Command {
	var out []Command
	for _, c := range list {
		out = append(out, Command{
			Name: c.Name, On: c.On, Command: c.Argv, Env: c.Env, Secrets: c.Secrets,
			Timeout: max(c.Timeout, time.Millisecond).Seconds(),
		})
	}
	return out
}
