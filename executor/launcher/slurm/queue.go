package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/executor/launcher"
)

// status is the status of a job or step.
type status struct {
	state  string // of squeue: PENDING, RUNNING, …; or gone
	reason string // Slurm's reason for pending or failure
	nodes  []string
	code   int    // exit code of the script, after its end
	signal int    // that ended it
	step   string // ID of a running step
}

const gone = "gone"

// over reports whether the job has ended.
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

// look reads the status of a job, which Slurm keeps for some minutes after its end.
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

// fromSqueue parses id|state|nodes|reason.
func fromSqueue(text, job string) (status, bool) {
	for line := range strings.Lines(text) {
		if f := strings.SplitN(strings.TrimSpace(line), "|", 4); len(f) == 4 && f[0] == job && f[1] != "" {
			return status{state: f[1], nodes: hosts(f[2]), reason: launcher.Printable(f[3])}, true
		}
	}
	return status{}, false
}

// fromScontrol parses the NAME=VALUE pairs of a job.
func fromScontrol(text string) (s status, known bool) {
	for _, field := range strings.Fields(text) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "JobState":
			s.state = value
		case "Reason":
			s.reason = launcher.Printable(value)
		case "NodeList":
			s.nodes = hosts(value)
		case "ExitCode":
			code, signal, _ := strings.Cut(value, ":")
			s.code, _ = strconv.Atoi(code) // 0 if there is none
			s.signal, _ = strconv.Atoi(signal)
		}
	}
	return s, s.state != ""
}

// hosts are the hosts of a node list, which may be empty.
func hosts(list string) []string {
	if strings.HasPrefix(list, "@") || strings.HasPrefix(list, "(") {
		return nil // "(null)"
	}
	all, err := launcher.Hosts(list)
	if err != nil {
		return nil
	}
	return all
}

// reasons are explanations of Slurm's reasons; hopeless means that waiting is useless.
var reasons = map[string]struct {
	means    string
	hopeless bool
}{
	"None":              {"it has just been submitted", false},
	"Resources":         {"it is next, when enough nodes are free", false},
	"Priority":          {"jobs with a higher priority are before it", false},
	"Dependency":        {"it waits for another job", false},
	"BeginTime":         {"its start time is later", false},
	"Reservation":       {"its reservation starts later", false},
	"Licenses":          {"all licenses are in use", false},
	"ReqNodeNotAvail":   {"a required node is down, drained or reserved", false},
	"PartitionDown":     {"its partition accepts no jobs at present", false},
	"PartitionInactive": {"its partition starts no jobs at present", false},
	"JobHeldUser":       {"it is held by its owner: scontrol release resumes it", false},
	"JobHeldAdmin":      {"it is held by an administrator", false},
	"PartitionNodeLimit": {"its partition has a lower limit of nodes: ask for fewer, or for another partition",
		true},
	"PartitionTimeLimit": {"its partition has a lower time limit: ask for less with --time=MINUTES in the setting slurm.flag",
		true},
	"PartitionConfig": {"its partition does not accept it: too many nodes, too much time, or a wrong account",
		true},
	"BadConstraints":              {"no nodes meet its constraints", true},
	"InvalidAccount":              {"its account is not valid", true},
	"InvalidQOS":                  {"its QOS is not valid", true},
	"AccountNotAllowed":           {"its partition does not accept that account", true},
	"QOSNotAllowed":               {"its partition does not accept that QOS", true},
	"NodeDown":                    {"one of its nodes failed", false},
	"launch_failed_requeued_held": {"it could not be started, and is held", true},
}

// explain is a reason with its explanation.
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

// queued is a job, or a step as job.step.
type queued struct{ id, nodes string }

// named are the jobs or steps with a name in the output of squeue: id|name|nodes.
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
