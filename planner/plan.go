// Package planner turns a scenario into a plan: every case that the sweeps
// give, the order they come in, the launches that run them, and what is asserted
// of each. It is pure: the same scenario and variables give the same bytes.
package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"weir/assertion"
	"weir/workload"
)

// Schema is the version of the plan document.
const Schema = "weir.plan/v1"

// Plan is everything that a session will do, in execution order.
type Plan struct {
	Schema    string     `json:"schema"`
	Scenario  Scenario   `json:"scenario"`
	Digest    string     `json:"digest"` // of what will be run and judged
	Cluster   Cluster    `json:"cluster"`
	Checks    []Check    `json:"checks"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Setup     []Command  `json:"setup,omitempty"`    // of the session
	Teardown  []Command  `json:"teardown,omitempty"` // of the session; always runs
	Runs      []*Run     `json:"runs"`               // in execution order
	Baseline  string     `json:"baseline,omitempty"` // results document; "": none, or the command line's
	// BaselineMissing is what becomes of what a baseline lacks: skip, or "" for an error.
	BaselineMissing string `json:"baseline_missing,omitempty"`
	// Inconclusive is what becomes of gates that stay open; nil: they stay inconclusive.
	Inconclusive *assertion.Inconclusive `json:"inconclusive,omitempty"`
	Cases        []*Case                 `json:"cases"`
	Assertions   []assertion.Assertion   `json:"assertions"` // over several cases
	Groups       []*LaunchGroup          `json:"launch_groups"`
	Cost         Cost                    `json:"cost"`
	// Checksum is of the whole document, names and texts included, which the digest
	// does not cover: what is shown must be what is run.
	Checksum string `json:"checksum,omitempty"`

	// What an excerpt leaves out: cases by run, and groups.
	omitted       map[string]int
	omittedGroups int
	noise         map[string][]assertion.Noise // what Expect was told, by case
	byKey         map[string]*Case             // of Cases, as far as it was asked for
}

// Scenario is the part of the scenario that outlives planning.
type Scenario struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	File        string            `json:"file"`
	Digest      string            `json:"digest"`
	Variables   map[string]string `json:"variables"`
}

// Position is a line of a file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Cluster is what the scenario needs to run on.
type Cluster struct {
	Nodes         int               `json:"nodes"` // 0 and 1: one is enough
	DistinctHosts bool              `json:"distinct_hosts"`
	GPUsPerNode   int               `json:"gpus_per_node"`
	Labels        map[string]string `json:"labels,omitempty"`    // that each node must carry
	Exclusive     bool              `json:"exclusive,omitempty"` // no other session may use the nodes
}

// Check is a command that must succeed before anything runs.
type Check struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	// Severity is "" where the session ends with an error, skip where all cases are skipped, warn where it is told.
	Severity string `json:"severity,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// Artifact is what is kept of nodes: the output of a command, or files.
type Artifact struct {
	Name     string   `json:"name"`
	On       string   `json:"on"` // every node | first node
	Command  []string `json:"command,omitempty"`
	File     string   `json:"file,omitempty"` // path on the node, or a pattern of paths
	At       string   `json:"at"`             // start | end
	Required bool     `json:"required,omitempty"`
	Timeout  float64  `json:"timeout_s"`
}

// Command is a setup or teardown command. It runs without a shell.
type Command struct {
	Name    string            `json:"name"`
	On      string            `json:"on"` // every node | first node
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"` // as Case.Secrets
	Timeout float64           `json:"timeout_s"`
}

// Run is what the cases of a run have in common.
type Run struct {
	Name string `json:"name"`
	// Prefix is what an include put before the names of the run and of those that it uses.
	Prefix string `json:"prefix,omitempty"`
	Order  Order  `json:"order"`
	// Setup and Teardown surround all launches of the run, the Launch ones each
	// launch. Teardown always runs if its setup began.
	Setup          []Command `json:"setup,omitempty"`
	Teardown       []Command `json:"teardown,omitempty"`
	LaunchSetup    []Command `json:"launch_setup,omitempty"`
	LaunchTeardown []Command `json:"launch_teardown,omitempty"`
	Retry          *Retry    `json:"retry,omitempty"`
	// Phases are deadlines by phase in seconds, where the scenario sets them:
	// ready, connect, run, verify, teardown.
	Phases map[string]float64 `json:"phases_s,omitempty"`
	// Metrics are those of the run's cases, where the scenario declares any.
	Metrics []workload.Metric `json:"metrics,omitempty"`
	// While names the run as whose background load this one runs.
	While string `json:"while,omitempty"`
	Stage string `json:"stage,omitempty"` // heading that it is shown under, which no digest covers
	// At is where the scenario has it.
	At *Position `json:"at,omitempty"`
	// Files are those from which options took their values, by option, as the scenario names them.
	// No digest covers them: their contents are options.
	Files map[string]string `json:"files,omitempty"`
	// MayFail says why its cases may be errors; nil: they may not.
	MayFail *assertion.MayFail `json:"may_fail,omitempty"`
	// BaselineVariant is the value of axis variant that reports hold the others against, which
	// no digest covers; "": there is none.
	BaselineVariant string `json:"baseline_variant,omitempty"`
}

// Order says in which order the launches of a run's groups come.
type Order struct {
	By   string `json:"by"`             // given | random | interleave
	Axis string `json:"axis,omitempty"` // that interleave alternates; "": all groups of the run
	Seed uint64 `json:"seed,omitempty"` // of random
}

// Retry says which failed launches are made again.
type Retry struct {
	Times int      `json:"times"`  // at most so many further attempts for each launch
	On    []string `json:"on"`     // kinds of failures, of results.FailureKinds
	Wait  float64  `json:"wait_s"` // before each
}

// Case is one run at one point.
type Case struct {
	Key       string            `json:"key"` // run[axis=value,…], axes by name
	ID        string            `json:"id"`  // sha256 of what is run and judged here
	Run       string            `json:"run"`
	Workload  string            `json:"workload"`
	Axes      map[string]any    `json:"axes"`
	AxisOrder []string          `json:"axis_order"`
	Options   workload.Values   `json:"options"`
	Env       map[string]string `json:"env"`
	EnvLater  []string          `json:"env_later,omitempty"` // variables whose text has names, as workload.Deferred
	Unset     []string          `json:"unset,omitempty"`     // variables that the case leaves unset, by name
	Place     Place             `json:"place"`
	Needs     []string          `json:"needs"` // keys of cases that must succeed first
	// NeedsOn says on what outcome a case of Needs lets this one run where that
	// is not success: failed or always.
	NeedsOn map[string]string `json:"needs_on,omitempty"`
	// Secrets are environment variables whose value is read where a rank starts,
	// by name: the name of an environment variable there, or file:PATH.
	Secrets    map[string]string     `json:"secrets,omitempty"`
	When       string                `json:"when,omitempty"`
	Timeout    float64               `json:"timeout_s"` // of one launch of this case
	Assertions []assertion.Assertion `json:"assertions"`
	Status     string                `json:"status"` // planned | excluded | skipped
	Reason     string                `json:"reason,omitempty"`
}

// Case statuses in a plan.
const (
	Planned  = "planned"
	Excluded = "excluded"
	Skipped  = "skipped"
)

// Place says where the ranks of a case go: in equal blocks to so many nodes, if the
// scenario says how many or how large; otherwise to no more nodes than there are ranks.
type Place struct {
	Nodes         int  `json:"nodes"`
	DistinctHosts bool `json:"distinct_hosts"`
	RanksPerNode  int  `json:"ranks_per_node,omitempty"` // 0: the scenario does not say
	// that each node must carry, those of the cluster included
	Labels map[string]string `json:"labels,omitempty"`
	// What each rank has to itself; 0: nothing.
	GPUsPerRank int `json:"gpus_per_rank,omitempty"`
	NICsPerRank int `json:"nics_per_rank,omitempty"`
	CPUsPerRank int `json:"cpus_per_rank,omitempty"`
}

// LaunchGroup is a set of cases that one launch walks, because they share
// processes and environment.
type LaunchGroup struct {
	ID    string   `json:"id"`
	Run   string   `json:"run"`
	Cases []string `json:"cases"`
	Ranks int      `json:"ranks"`
	Looks []int    `json:"looks"` // launches after which the gate looks; the last is the most
	Needs []string `json:"needs"` // ids of groups that must be decided first
	// During are the ids of the groups during whose launches this one runs as
	// background load, one launch during each of theirs.
	During []string `json:"during,omitempty"`

	omitted  int    // cases that an excerpt leaves out
	together string // of an excerpt, which has not all cases to add up
}

// Cost says how much the plan will do.
type Cost struct {
	Launches Range  `json:"launches"`
	Seconds  *Range `json:"seconds"` // nil: no history to tell from
}

// Range is a least, a likely and a largest number.
type Range struct {
	Min      float64 `json:"min"`
	Expected float64 `json:"expected"`
	Max      float64 `json:"max"`
}

// Case finds a case by its key.
func (p *Plan) Case(key string) *Case {
	for _, c := range p.Cases {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// Read reads a saved plan and checks that its content is what its digest says.
func Read(path string) (*Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	p, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("reading plan %s: %w", path, err)
	}
	return p, nil
}

func decode(b []byte) (*Plan, error) {
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // as everywhere: a misspelt key must not be a silent default
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("there is more after the plan")
	}
	if p.Schema == "" {
		return nil, fmt.Errorf("it is no plan: it has no schema, which is %q in a plan", Schema)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("it is a %q document; this weir reads %q", p.Schema, Schema)
	}
	if slices.Contains(p.Runs, nil) || slices.Contains(p.Cases, nil) || slices.Contains(p.Groups, nil) {
		return nil, errors.New("it holds an empty run, case or launch group")
	}
	if err := p.Verify(); err != nil {
		return nil, err
	}
	if got := p.checksum(); got != p.Checksum {
		return nil, fmt.Errorf("%w: its checksum is not that of its content", ErrDigest)
	}
	return &p, p.normalize()
}

// normalize gives options, and the axes that set them, the Go types that JSON
// does not keep.
func (p *Plan) normalize() error {
	known := map[string]bool{}
	for _, c := range p.Cases {
		known[c.Key] = true
		k, ok := workload.Lookup(c.Workload)
		if !ok {
			return fmt.Errorf("case %s: unknown workload %q", c.Key, c.Workload)
		}
		v, err := k.Normalize(c.Options)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Key, err)
		}
		c.Options = v
		for name, v := range c.Axes {
			// whose value of the case may be another: a pattern of a sequence may say its own
			if o, ok := k.Option(name); ok {
				if c.Axes[name], err = o.Parse(workload.Text(v)); err != nil {
					return fmt.Errorf("case %s: axis %s: %w", c.Key, name, err)
				}
			}
		}
	}
	for _, g := range p.Groups {
		if len(g.Looks) == 0 || slices.ContainsFunc(g.Cases, func(key string) bool { return !known[key] }) {
			return fmt.Errorf("launch group %s has no looks, or a case that is not in the plan", g.ID)
		}
	}
	return nil
}
