package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"weir/executor/launch"
)

// status is what Slurm says of a job.
type status struct {
	state  string // PENDING, RUNNING, … as squeue has it; gone: Slurm knows nothing of it any more
	reason string // why it is pending or has failed, a word of Slurm's
	nodes  []string
	code   int    // exit code of the script, once it has ended
	signal int    // that ended it
	step   string // its id, where it is one that runs
}

const gone = "gone"

// over says whether none of the job's processes is left to run.
func (s status) over() bool { return !s.pending() && !s.running() && s.state != "COMPLETING" }

func (s status) pending() bool {
	switch s.state {
	case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return true
	}
	return false
}

func (s status) running() bool {
	switch s.state {
	case "RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING":
		return true
	}
	return false
}

// look asks Slurm about a job. One that has ended stays known for some minutes.
func look(ctx context.Context, job string) (status, error) {
	out, err := run(ctx, nil, "squeue", "--noheader", "--jobs="+job, "--states=all", "--format=%i|%T|%N|%r")
	s, ok := fromSqueue(out, job)
	if ok && !s.over() {
		return s, nil
	}
	shown, err2 := run(ctx, nil, "scontrol", "--oneliner", "show", "job", job)
	if shown, known := fromScontrol(shown); known {
		return shown, nil
	}
	switch {
	case ok:
		return s, nil
	case ctx.Err() != nil:
		return status{}, context.Cause(ctx)
	case invalid(err) || err == nil && invalid(err2):
		return status{state: gone}, nil
	case err == nil:
		err = err2
	}
	return status{}, fmt.Errorf("asking Slurm about job %s: %w", job, err)
}

func invalid(err error) bool { return err != nil && strings.Contains(err.Error(), "Invalid job id") }

// fromSqueue reads a line of id|state|nodes|reason.
func fromSqueue(text, job string) (status, bool) {
	for line := range strings.Lines(text) {
		if f := strings.SplitN(strings.TrimSpace(line), "|", 4); len(f) == 4 && f[0] == job && f[1] != "" {
			return status{state: f[1], nodes: hosts(f[2]), reason: launch.Printable(f[3])}, true
		}
	}
	return status{}, false
}

// fromScontrol reads the NAME=VALUE of a job on one line.
func fromScontrol(text string) (s status, known bool) {
	for _, field := range strings.Fields(text) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "JobState":
			s.state = value
		case "Reason":
			s.reason = launch.Printable(value)
		case "NodeList":
			s.nodes = hosts(value)
		case "ExitCode":
			code, signal, _ := strings.Cut(value, ":")
			s.code, _ = strconv.Atoi(code) // Slurm's own numbers: 0 is right where there is none
			s.signal, _ = strconv.Atoi(signal)
		}
	}
	return s, s.state != ""
}

// hosts are those of a node list, none if there are none yet.
func hosts(list string) []string {
	if strings.HasPrefix(list, "@") || strings.HasPrefix(list, "(") {
		return nil // "(null)"
	}
	all, err := launch.Hosts(list)
	if err != nil {
		return nil
	}
	return all
}

// reasons say what Slurm's words mean, and whether waiting cannot help.
var reasons = map[string]struct {
	means    string
	hopeless bool
}{
	"None":              {"it has just been submitted", false},
	"Resources":         {"it is next, when enough nodes are free", false},
	"Priority":          {"jobs with a higher priority are before it", false},
	"Dependency":        {"it waits for another job", false},
	"BeginTime":         {"its begin is later", false},
	"Reservation":       {"its reservation begins later", false},
	"Licenses":          {"licenses are taken", false},
	"ReqNodeNotAvail":   {"a node that it needs is down, drained or reserved", false},
	"PartitionDown":     {"its partition takes no jobs at the moment", false},
	"PartitionInactive": {"its partition starts no jobs at the moment", false},
	"JobHeldUser":       {"its owner holds it: scontrol release lets it go", false},
	"JobHeldAdmin":      {"an administrator holds it", false},
	"PartitionNodeLimit": {"its partition does not give a job as many nodes: ask for fewer, or for another partition",
		true},
	"PartitionTimeLimit": {"its partition does not give a job as much time: ask for less with --slurm-flag=--time=MINUTES",
		true},
	"PartitionConfig": {"its partition does not take it as it is: too many nodes, too much time, or an account that it does not take",
		true},
	"BadConstraints":              {"no nodes can ever be what it asks for", true},
	"InvalidAccount":              {"its account is not valid", true},
	"InvalidQOS":                  {"its QOS is not valid", true},
	"AccountNotAllowed":           {"its partition does not take that account", true},
	"QOSNotAllowed":               {"its partition does not take that QOS", true},
	"NodeDown":                    {"a node of it failed", false},
	"launch_failed_requeued_held": {"it could not be started, and is held", true},
}

// explain is a reason with what it means.
func explain(reason string) (text string, hopeless bool) {
	word, _, _ := strings.Cut(reason, ",") // "ReqNodeNotAvail, UnavailableNodes:n3"
	known, ok := reasons[strings.Trim(word, "()")]
	switch {
	case ok:
		return reason + ": " + known.means, known.hopeless
	case strings.HasPrefix(word, "QOS"), strings.HasPrefix(word, "Assoc"):
		return reason + ": a limit of your account or QOS is reached", false
	}
	return reason, false
}

// queued is a job in the queue, or a step as job.step.
type queued struct{ id, nodes string }

// named finds those with a name in what squeue writes: id|name|nodes.
func named(ctx context.Context, name string, argv ...string) ([]queued, error) {
	out, err := run(ctx, nil, argv...)
	if err != nil {
		return nil, err
	}
	var found []queued
	for line := range strings.Lines(out) {
		if f := strings.SplitN(strings.TrimSpace(line), "|", 3); len(f) == 3 && f[1] == name {
			found = append(found, queued{f[0], f[2]})
		}
	}
	return found, nil
}
