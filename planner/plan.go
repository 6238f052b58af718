// The plan document: its types, and reading it.

package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Schema is the version of the plan document.
const Schema = "weir.plan/v1"

// Plan is everything that a session will do, in execution order.
type Plan struct {
	Schema    string     `json:"schema"`
	Scenario  Scenario   `json:"scenario"`
	Digest    string     `json:"digest"` // of everything that is run and judged
	Cluster   Cluster    `json:"cluster"`
	Checks    []Check    `json:"checks"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Setup     []Command  `json:"setup,omitempty"`    // of the session
	Teardown  []Command  `json:"teardown,omitempty"` // of the session; always runs
	Runs      []*Run     `json:"runs"`               // in execution order
	Baseline  string     `json:"baseline,omitempty"` // path of a results document; "": none, or that of the command line
	// BaselineMissing says what happens if the baseline lacks a value: skip, or "" for an error.
	BaselineMissing string `json:"baseline_missing,omitempty"`
	// Inconclusive is the verdict of gates that stay open; nil: they stay inconclusive.
	Inconclusive *assertion.Inconclusive `json:"inconclusive,omitempty"`
	Cases        []*Case                 `json:"cases"`
	Assertions   []assertion.Assertion   `json:"assertions"` // over several cases
	// Claims are what documents say of cases. No digest covers them.
	Claims []assertion.Claim `json:"claims,omitempty"`
	Groups []*LaunchGroup    `json:"launch_groups"`
	Cost   Cost              `json:"cost"`
	// Checksum covers the whole document, including names and texts, which the digest does not
	// cover.
	Checksum string `json:"checksum,omitempty"`

	// What an excerpt leaves out: cases by run, and groups.
	omitted       map[string]int
	omittedGroups int
	noise         map[string][]assertion.Noise // set by Expect, by case
	byKey         map[string]*Case             // of Cases, cached
	looksOf       map[string]int               // numbers of looks by run
}

// Scenario is the part of the scenario that reports need.
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

// Cluster is the set of nodes that the scenario requires.
type Cluster struct {
	Nodes         int               `json:"nodes"` // 0 and 1: one is enough
	DistinctHosts bool              `json:"distinct_hosts"`
	GPUsPerNode   int               `json:"gpus_per_node"`
	Labels        map[string]string `json:"labels,omitempty"`    // required on each node
	Exclusive     bool              `json:"exclusive,omitempty"` // no other session may use the nodes
	NICsPerNode   int               `json:"nics_per_node,omitempty"`
	NICDriver     string            `json:"nic_driver,omitempty"` // "": any
	// HugePages are free bytes that each node must have, by size of a page.
	HugePages    map[string]int64 `json:"huge_pages,omitempty"`
	LockedMemory int64            `json:"locked_memory,omitempty"` // bytes; dsl.Unlimited; 0: any
}

// Check must hold before anything runs. It has one of Command, Cluster and GPU.
type Check struct {
	Name    string        `json:"name"`
	Command []string      `json:"command,omitempty"`
	Cluster *ClusterCheck `json:"cluster,omitempty"`
	GPU     *GPUCheck     `json:"gpu,omitempty"`
	// Launcher is the launcher with which it is made; "": any.
	Launcher string `json:"launcher,omitempty"`
	// Severity is the effect of a failure: "": the session ends with an error; skip: all cases are
	// skipped; warn: only a warning.
	Severity string `json:"severity,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// What checks ask is as in the scenario.
type (
	ClusterCheck = dsl.ClusterCheck
	GPUCheck     = dsl.GPUCheck
)

// Artifact is a file or the output of a command that is kept from nodes.
type Artifact struct {
	Name     string   `json:"name"`
	On       string   `json:"on"` // every node | first node
	Command  []string `json:"command,omitempty"`
	File     string   `json:"file,omitempty"` // path on the node, or a glob pattern
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
	Secrets map[string]string `json:"secrets,omitempty"` // as in Case.Secrets
	Timeout float64           `json:"timeout_s"`
}

// Run has the settings that the cases of a run share.
type Run struct {
	Name string `json:"name"`
	// Prefix is added by an include to the name of the run and to the names that it uses.
	Prefix string `json:"prefix,omitempty"`
	Order  Order  `json:"order"`
	// Setup and Teardown run before and after all launches of the run, LaunchSetup and
	// LaunchTeardown for each launch. Teardown always runs if its setup began.
	Setup          []Command `json:"setup,omitempty"`
	Teardown       []Command `json:"teardown,omitempty"`
	LaunchSetup    []Command `json:"launch_setup,omitempty"`
	LaunchTeardown []Command `json:"launch_teardown,omitempty"`
	Retry          *Retry    `json:"retry,omitempty"`
	// Phases are deadlines by phase in seconds, if the scenario sets them: ready, connect, run,
	// verify, teardown.
	Phases map[string]float64 `json:"phases_s,omitempty"`
	// Metrics are those of the run's cases, if the scenario declares any.
	Metrics []workload.Metric `json:"metrics,omitempty"`
	// While names the run during which this one is background load.
	While string `json:"while,omitempty"`
	Stage string `json:"stage,omitempty"` // heading in reports; not covered by digests
	// Tags select the run. No digest covers them.
	Tags []string `json:"tags,omitempty"`
	// At is its place in the scenario.
	At *Position `json:"at,omitempty"`
	// Files are the files that options were read from, by option, as the scenario names them.
	// Digests cover their contents, not their names.
	Files map[string]string `json:"files,omitempty"`
	// MayFail says why its cases may be errors; nil: they may not.
	MayFail *assertion.MayFail `json:"may_fail,omitempty"`
	// BaselineVariant is the value of axis variant that reports compare the others with; "": there
	// is none. No digest covers it.
	BaselineVariant string `json:"baseline_variant,omitempty"`
	// VariantNotes are texts about values of axis variant, for reports. No digest covers them.
	VariantNotes map[string]string `json:"variant_notes,omitempty"`
}

// Order is the order of the launches of a run's groups.
type Order struct {
	By   string `json:"by"`             // given | random | interleave
	Axis string `json:"axis,omitempty"` // of interleave; "": all groups of the run
	Seed uint64 `json:"seed,omitempty"` // of random
}

// Retry says which failed launches are repeated.
type Retry struct {
	Times int      `json:"times"`  // maximum number of further attempts for each launch
	On    []string `json:"on"`     // kinds of failures, of results.FailureKinds
	Wait  float64  `json:"wait_s"` // seconds before each attempt
}

// Case is one run at one point.
type Case struct {
	Key       string            `json:"key"` // run[axis=value,…], axes by name
	ID        string            `json:"id"`  // sha256 of everything that is run and judged in this case
	Run       string            `json:"run"`
	Workload  string            `json:"workload"`
	Axes      map[string]any    `json:"axes"`
	AxisOrder []string          `json:"axis_order"`
	Options   option.Values     `json:"options"`
	Env       map[string]string `json:"env"`
	EnvLater  []string          `json:"env_later,omitempty"` // variables with names in their text, as workload.Deferred
	Unset     []string          `json:"unset,omitempty"`     // names of variables that the case leaves unset
	Place     Place             `json:"place"`
	Needs     []string          `json:"needs"` // keys of cases that must succeed first
	// NeedsOn has the required outcome of a case of Needs if it is not success: failed or always.
	NeedsOn map[string]string `json:"needs_on,omitempty"`
	// Secrets are environment variables with a secret value, read where a rank starts: by name, the
	// name of an environment variable there, or file:PATH.
	Secrets    map[string]string     `json:"secrets,omitempty"`
	When       string                `json:"when,omitempty"`
	Timeout    float64               `json:"timeout_s"` // of one launch of this case
	Assertions []assertion.Assertion `json:"assertions"`
	Status     string                `json:"status"` // planned | excluded | skipped
	Reason     string                `json:"reason,omitempty"`
	// Deselected: a selection skipped it, or a case that it needs.
	Deselected bool `json:"deselected,omitempty"`
}

// The statuses of a case in a plan.
const (
	Planned  = "planned"
	Excluded = "excluded"
	Skipped  = "skipped"
)

// Place says where the ranks of a case go: in equal blocks on the given number of nodes or with the
// given block size; without both, on at most one node for each rank.
type Place struct {
	Nodes         int  `json:"nodes"`
	DistinctHosts bool `json:"distinct_hosts"`
	RanksPerNode  int  `json:"ranks_per_node,omitempty"` // 0: not given
	// required on each node, including those of the cluster
	Labels map[string]string `json:"labels,omitempty"`
	// Reserved for each rank; 0: nothing.
	GPUsPerRank int `json:"gpus_per_rank,omitempty"`
	NICsPerRank int `json:"nics_per_rank,omitempty"`
	CPUsPerRank int `json:"cpus_per_rank,omitempty"`
}

// LaunchGroup is a set of cases that one launch measures one after another, since they share
// processes and environment.
type LaunchGroup struct {
	ID    string   `json:"id"`
	Run   string   `json:"run"`
	Cases []string `json:"cases"`
	Ranks int      `json:"ranks"`
	Looks []int    `json:"looks"` // numbers of launches after which the gate looks; the last is the maximum
	Needs []string `json:"needs"` // ids of groups that must be decided first
	// During has the ids of the groups during which this one runs as background load, one launch
	// for each of theirs.
	During []string `json:"during,omitempty"`

	omitted  int    // cases that an excerpt leaves out
	together string // of an excerpt, which does not have all cases
}

// Cost is the number of launches and the time of the plan.
type Cost struct {
	Launches Range  `json:"launches"`
	Seconds  *Range `json:"seconds"` // nil: no history to estimate from
}

// Range is a minimum, an expected value and a maximum.
type Range struct {
	Min      float64 `json:"min"`
	Expected float64 `json:"expected"`
	Max      float64 `json:"max"`
}

// Case returns the case with a key, nil if there is none.
func (p *Plan) Case(key string) *Case {
	for _, c := range p.Cases {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// Read reads a saved plan and verifies its digest and checksum.
func Read(path string) (*Plan, error) {
	b, err := bounded.ReadFile(path, bounded.Result)
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
	d.DisallowUnknownFields() // a misspelt key must not become a default
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("there is data after the plan")
	}
	if p.Schema == "" {
		return nil, fmt.Errorf("not a plan: it has no schema %q", Schema)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("it is a %q document, but this weir reads %q", p.Schema, Schema)
	}
	if slices.Contains(p.Runs, nil) || slices.Contains(p.Cases, nil) || slices.Contains(p.Groups, nil) {
		return nil, errors.New("it has an empty run, case or launch group")
	}
	if err := p.Verify(); err != nil {
		return nil, err
	}
	got, err := write(io.Discard, &p, slices.Values(p.Cases))
	if err != nil {
		return nil, err
	}
	if got != p.Checksum {
		return nil, fmt.Errorf("%w: the checksum does not match", ErrDigest)
	}
	return &p, p.normalize()
}

// normalize converts options, and the axes that set them, to the Go types that JSON does not
// preserve.
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
			// a pattern of a sequence may have its own value
			if o, ok := k.Option(name); ok {
				if c.Axes[name], err = o.Parse(option.Text(v)); err != nil {
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
