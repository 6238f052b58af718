package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"weir/engine"
	"weir/executor/cluster"
	"weir/logwatch"
	"weir/results"
)

// Deadlines bound what a launch may take in each phase. A case has its own, in
// engine.Case.
type Deadlines struct {
	Ready    time.Duration `json:"ready"`    // from the start of a process to its address, without filling memory
	Connect  time.Duration `json:"connect"`  // from the addresses to the connection
	Teardown time.Duration `json:"teardown"` // from the last result to the exit
	Stall    time.Duration `json:"stall"`    // a rank whose loop stands still for so long, while others move, hangs
	Grace    time.Duration `json:"grace"`    // from the word to stop to SIGKILL
	Command  time.Duration `json:"command"`  // of a check or a probe
	Run      time.Duration `json:"run"`      // warm-up and timed part of a case; 0: only the case's own deadline
	Verify   time.Duration `json:"verify"`   // checking what was moved; 0: only the case's own deadline
}

// over gives the deadlines of which those that are set replace another's.
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

// memoryRate is the rate at which even a slow node fills fresh memory, bytes/s.
const memoryRate = 256 << 20

// ready is the deadline for ranks that have this much memory to fill.
func (d Deadlines) ready(l engine.Launch, ranks int) time.Duration {
	return d.Ready + time.Duration(float64(l.Memory)*2*float64(ranks)/memoryRate*float64(time.Second))
}

// Task is what the coordinator places on a node; one of the pointers is set.
type Task struct {
	Launch  *LaunchTask  `json:"launch,omitempty"`
	Check   *CheckTask   `json:"check,omitempty"`
	Command *CommandTask `json:"command,omitempty"`
	Secrets *SecretsTask `json:"secrets,omitempty"`
	Clock   bool         `json:"clock,omitempty"` // asks what time it is on the node
	// Artifact may be answered by several reports.
	Artifact *ArtifactTask `json:"artifact,omitempty"`
	Observe  *ObserveTask  `json:"observe,omitempty"`
	// Redact are references to the secrets whose values may stand in nothing that
	// is kept of the task, whether or not the task itself is given them: processes
	// inherit the agent's environment.
	Redact []string `json:"redact,omitempty"`
}

// LaunchTask is a node's part in a launch. The launch itself, which all nodes have in
// common and which may be long, is shared beside the placements.
type LaunchTask struct {
	Text   cluster.Text      `json:"text"`  // what Pack gives
	Ranks  []int             `json:"ranks"` // that this node runs
	Env    map[string]string `json:"env"`   // the scenario's
	Unset  []string          `json:"unset,omitempty"`
	LogDir string            `json:"log_dir"`
	// Secrets are references to the values of further environment variables.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Deadlines are those that the run sets; of the others the agent has its own.
	Deadlines Deadlines `json:"deadlines"`
	CPUs      CPUs      `json:"cpus"`
	// Etcd says that a part of the session's etcd is lent to the ranks.
	Etcd bool `json:"etcd,omitempty"`
	// Seats are what each of Ranks has to itself, in their order; none: nothing.
	Seats []results.Seat `json:"seats,omitempty"`
	// Watch is what is looked for in the logs of the ranks; nil: nothing.
	Watch *logwatch.Spec `json:"watch,omitempty"`
}

// CPUs says which of a node's processors the ranks of a task get, where several
// launches run at a time: so many threads of all the ranks come before its own.
type CPUs struct {
	First   int `json:"first"`
	Threads int `json:"threads"` // of all launches; 0: this launch is alone
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

// SecretsTask asks whether a node has the scenario's secrets and takes the variables that
// its ranks are to have.
type SecretsTask struct {
	Names     []string            `json:"names"`               // references
	Variables []string            `json:"variables,omitempty"` // that secrets are the values of
	Env       map[string][]string `json:"env,omitempty"`       // the scenario's variables with all of their values
	// Revealed are variables of the node, and references to secrets, whose values ranks send to
	// where the scenario says.
	Revealed []string `json:"revealed,omitempty"`
}

// CheckTask is a command that must succeed.
type CheckTask struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// Encode gives a task the form in which it is placed.
func (t Task) Encode() ([]byte, error) {
	text, err := json.Marshal(t)
	if err == nil {
		text, err = compress(text)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding a task: %w", err)
	}
	return text, nil
}

// maxTask is the longest text of a task without its launch.
const maxTask = 16 << 20

// errElsewhere is of a task with a file that is not below the agent's log directory.
var errElsewhere = errors.New("refused")

// localFiles refuses names of files with which a coordinator would have the agent write,
// read or remove others than its own.
func (t Task) localFiles() (err error) {
	if c := t.Command; c != nil {
		err = below("log", c.Log)
	}
	if l := t.Launch; err == nil && l != nil && l.LogDir != "" {
		err = below("directory for logs", l.LogDir)
	}
	if o := t.Observe; err == nil && o != nil {
		err = below("log", o.Log)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errElsewhere, err)
	}
	return nil
}

func decodeTask(b []byte) (Task, error) {
	var t Task
	text, err := decompress(b, maxTask)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("reading a task: %w", err)
	}
	if err := t.localFiles(); err != nil {
		return Task{}, fmt.Errorf("reading a task: %w", err)
	}
	switch {
	case t.Check != nil && len(t.Check.Command) > 0, t.Command != nil && len(t.Command.Command) > 0, t.Secrets != nil,
		t.Clock, t.Observe != nil,
		t.Artifact != nil && (len(t.Artifact.Command) > 0 || t.Artifact.File != ""):
		return t, nil
	case t.Launch == nil || len(t.Launch.Ranks) == 0:
		return t, errors.New("reading a task: it asks for nothing")
	}
	return t, nil
}
