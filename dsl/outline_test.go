package dsl

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results/assertion"
)

// describe returns everything in a scenario except places in files.
func describe(s *Scenario) string {
	var b strings.Builder
	say := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s=%s ", name, text)
	}
	commands := func(name string, list []*Command) {
		for _, c := range list {
			say(name, []any{c.Name, c.On, c.Argv, c.Env, c.Secrets, c.Timeout.String()})
		}
	}
	say("name", s.Name)
	say("description", s.Description)
	if s.Inconclusive != (assertion.Inconclusive{}) {
		say("inconclusive", s.Inconclusive)
	}
	say("baseline", s.Baseline)
	say("cluster", s.Cluster)
	for _, v := range s.Variables {
		say("variable", []string{v.Name, v.Type, v.Description, v.Text})
	}
	for _, c := range s.Checks {
		say("check", []any{c.Name, c.Command, c.Severity, c.Remedy})
	}
	for _, a := range s.Artifacts {
		say("artifact", []any{a.Name, a.On, a.Command, a.File, a.At, a.Required, a.Timeout.String()})
	}
	for _, c := range s.Claims {
		where := ""
		if c.Where != nil {
			where = c.Where.Text()
		}
		var requires []string
		for _, r := range c.Requires {
			requires = append(requires, r.Text())
		}
		say("claim", []any{c.Run.Name, c.Metric.Name, c.Value, c.Gain, c.Text, where, requires, c.Plausible, c.Variant,
			c.Against, c.Tolerance, c.Source, c.Date, c.Configuration, c.Says})
	}
	commands("setup", s.Setup)
	commands("teardown", s.Teardown)
	for _, r := range s.Runs {
		say("run", r.Name)
		say("launches", r.Launches)
		say("timeout", r.Timeout.String())
		say("phases", r.Phases)
		say("retry", r.Retry)
		say("place", r.Place)
		say("may_fail", r.MayFail)
		say("stage", r.Stage)
		say("tags", r.Tags)
		say("secrets", r.Secrets)
		for _, n := range r.Needs {
			say("needs", []string{n.Run, n.On})
		}
		if r.While != nil {
			say("while", r.While.Run)
		}
		if r.When != nil {
			say("when", r.When.Text())
		}
		commands("run.setup", r.Setup)
		commands("run.teardown", r.Teardown)
		commands("launch.setup", r.LaunchSetup)
		commands("launch.teardown", r.LaunchTeardown)
		for _, p := range points(r) {
			resolved, diags := r.At(p)
			if diags.HasErrors() {
				panic(diags)
			}
			say("at", []any{pointText(r, p), resolved.Options, resolved.Env})
		}
		for _, a := range r.Asserts {
			say("assert", []any{a.Name, a.Text, a.Severity, a.Halo, a.Multiple, a.Decide, a.XFail})
		}
	}
	return b.String()
}
