package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Deadlines bound the phases of a launch. A case has its own deadline, in engine.Case.
type Deadlines struct {
	Ready    time.Duration `json:"ready"`    // from the start of a process to its address, without filling memory
	Connect  time.Duration `json:"connect"`  // from the addresses to the connection
	Teardown time.Duration `json:"teardown"` // from the last result to the exit
	Stall    time.Duration `json:"stall"`    // without a heartbeat, while other ranks have one
	Grace    time.Duration `json:"grace"`    // from the stop to SIGKILL
	Command  time.Duration `json:"command"`  // of a check, a probe, or a command without a timeout
	Run      time.Duration `json:"run"`      // warm-up and timed part of a case; 0: only the case's own deadline
	Verify   time.Duration `json:"verify"`   // verification of a case; 0: only the case's own deadline
}

// over overrides the deadlines of base by those that are set.
func (d Deadlines) over(base Deadlines) Deadlines {
	for _, f := range []struct{ from, to *time.Duration }{
		{&d.Ready, &base.Ready}, {&d.Connect, &base.Connect}, {&d.Teardown, &base.Teardown}, {&d.Stall, &base.Stall},
		{&d.Grace, &base.Grace}, {&d.Command, &base.Command}, {&d.Run, &base.Run}, {&d.Verify, &base.Verify},
	} {
		if *f.from > 0 {
			*f.to = *f.from
		}
	}
	return base
}

func (d Deadlines) orDefaults() Deadlines {
	return d.over(Deadlines{
		Ready: 30 * time.Second, Connect: 30 * time.Second, Teardown: 5 * time.Second,
		Stall: 10 * time.Second, Grace: time.Second, Command: 10 * time.Second,
	})
}

// memoryRate is the rate in bytes/s at which even a slow node fills new memory.
const memoryRate = 256 << 20

// ready is the deadline for ranks to become ready, with the time to fill their memory.
func (d Deadlines) ready(l engine.Launch, ranks int) time.Duration {
	return d.Ready + time.Duration(float64(l.Memory)*2*float64(ranks)/memoryRate*float64(time.Second))
}

// Task is work for a node; exactly one field besides Redact is set.
type Task struct {
	Launch  *LaunchTask  `json:"launch,omitempty"`
	Check   *CheckTask   `json:"check,omitempty"`
	Command *CommandTask `json:"command,omitempty"`
	Secrets *SecretsTask `json:"secrets,omitempty"`
	Clock   bool         `json:"clock,omitempty"` // asks for the node's time
	// Artifact may have several reports.
	Artifact *ArtifactTask `json:"artifact,omitempty"`
	Observe  *ObserveTask  `json:"observe,omitempty"`
	// Redact are references to secrets that are redacted from logs and reports, even if the task does not use
	// them: processes inherit the agent's environment.
	Redact []string `json:"redact,omitempty"`
}

// LaunchTask is a node's part in a launch.
type LaunchTask struct {
	Packed []byte            `json:"-"`     // the launch, as Pack encodes it; the same for all nodes
	Ranks  []int             `json:"ranks"` // that this node runs
	Env    map[string]string `json:"env"`   // the scenario's
	Unset  []string          `json:"unset,omitempty"`
	LogDir string            `json:"log_dir"`
	// Secrets are references to the values of further environment variables.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Deadlines are the run's; 0: the agent's own apply.
	Deadlines Deadlines `json:"deadlines"`
	CPUs      CPUs      `json:"cpus"`
	// Etcd: the ranks borrow a part of the session's etcd.
	Etcd bool `json:"etcd,omitempty"`
	// Bindings are the dedicated resources of Ranks, in their order; nil: none.
	Bindings []results.Binding `json:"seats,omitempty"`
	// Watch are the expressions to match in the logs of the ranks; nil: none.
	Watch *logwatch.Spec `json:"watch,omitempty"`
	// Sampled is what is sampled while the first rank runs, for observations of its log.
	Sampled workload.Sampled `json:"sampled,omitzero"`
}

// CPUs assigns processors of a node to a launch that may run at the same time as others.
type CPUs struct {
	First   int `json:"first"`   // index of the first processor: the threads of earlier launches
	Threads int `json:"threads"` // of all launches; 0: there is only this one
}

// CommandTask is a setup or teardown command.
type CommandTask struct {
	Name    string            `json:"name"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"`
	Timeout time.Duration     `json:"timeout"`
	Log     string            `json:"log"` // file for its output, below the agent's log directory
}

// SecretsTask asks whether a node has the scenario's secrets and permits the variables of its ranks.
type SecretsTask struct {
	Names     []string            `json:"names"`               // references
	Variables []string            `json:"variables,omitempty"` // that get the values of secrets
	Env       map[string][]string `json:"env,omitempty"`       // the scenario's variables with all of their values
	// Revealed are variables of the node, and references to secrets, that ranks send to endpoints of the scenario.
	Revealed []string `json:"revealed,omitempty"`
}

// CheckTask is a command that must succeed.
type CheckTask struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// errNotLocal is the error of a task with a file that is not below the agent's log directory.
var errNotLocal = errors.New("refused")

// localFiles refuses tasks with files that are not below the agent's log directory.
func (t Task) localFiles() (err error) {
	if c := t.Command; c != nil {
		err = checkLocal("log", c.Log)
	}
	if l := t.Launch; err == nil && l != nil && l.LogDir != "" {
		err = checkLocal("directory for logs", l.LogDir)
	}
	if o := t.Observe; err == nil && o != nil {
		err = checkLocal("log", o.Log)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLocal, err)
	}
	return nil
}

func (t Task) check() error {
	if err := t.localFiles(); err != nil {
		return fmt.Errorf("reading a task: %w", err)
	}
	switch {
	case t.Check != nil && len(t.Check.Command) > 0, t.Command != nil && len(t.Command.Command) > 0, t.Secrets != nil,
		t.Clock, t.Observe != nil,
		t.Artifact != nil && (len(t.Artifact.Command) > 0 || t.Artifact.File != ""),
		t.Launch != nil && len(t.Launch.Ranks) > 0:
		return nil
	}
	return errors.New("reading a task: it is empty")
}
