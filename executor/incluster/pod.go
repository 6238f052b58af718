package incluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pod is what is read of a pod.
type pod struct {
	Kind     string
	Metadata struct {
		Name, Namespace, UID string
		Labels               map[string]string
		OwnerReferences      []ownerReference
		DeletionTimestamp    *time.Time
	}
	Spec struct {
		NodeName, RestartPolicy string
	}
	Status struct {
		Phase, Reason, Message string
		Conditions             []condition
		InitContainerStatuses  []containerStatus
		ContainerStatuses      []containerStatus
	}
}

type ownerReference struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

type condition struct{ Type, Status, Reason, Message string }

type containerStatus struct {
	Name         string
	RestartCount int
	State        containerState
	LastState    containerState
}

type containerState struct {
	Waiting    *struct{ Reason, Message string }
	Running    *struct{}
	Terminated *termination
}

type termination struct {
	ExitCode, Signal int
	Reason, Message  string
}

// mostRestarts is how often a container may have been started again before the service was ready:
// one may need another that comes up a moment later.
const mostRestarts = 3

// hopeless are reasons for which a container waits until somebody changes something.
var hopeless = []string{
	"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError",
	"CreateContainerError", "RunContainerError",
}

// crash is why a pod fails its service.
type crash struct {
	container string
	text      string
	previous  bool // the container runs again: its output is that of its former life
	waiting   bool // it may still come: others are hopeless
}

// judge says what is wrong with a pod; nil: nothing, or nothing yet.
func (p *pod) judge(ready bool) *crash {
	if p.Metadata.DeletionTimestamp != nil {
		return nil // whoever deletes it knows why
	}
	all := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	for i, c := range all {
		init := i < len(p.Status.InitContainerStatuses)
		if t := c.State.Terminated; t != nil &&
			(t.ExitCode != 0 || ready && !init && p.Spec.RestartPolicy == "Always") {
			restarts := p.Spec.RestartPolicy != "Never" && p.Status.Phase != "Failed"
			if !ready && restarts && c.RestartCount < mostRestarts {
				continue
			}
			return &crash{container: c.Name, text: t.text()}
		}
		w, t := c.State.Waiting, c.LastState.Terminated
		switch {
		case t != nil && t.ExitCode != 0 && (ready || c.RestartCount >= mostRestarts ||
			w != nil && w.Reason == "CrashLoopBackOff"):
			return &crash{container: c.Name, text: t.text(), previous: true}
		case w != nil && slices.Contains(hopeless, w.Reason):
			return &crash{container: c.Name, text: sentence(w.Reason, w.Message), waiting: true}
		}
	}
	if p.Status.Phase == "Failed" { // evicted, refused by its node
		return &crash{text: sentence(p.Status.Reason, p.Status.Message)}
	}
	return nil
}

func (t *termination) text() string {
	text := fmt.Sprintf("exit code %d", t.ExitCode)
	if t.Signal != 0 {
		text += fmt.Sprintf(", signal %d", t.Signal)
	}
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += ", " + t.Reason
	}
	return text
}

// begun says whether any container of the pod has run.
func (p *pod) begun() bool {
	return slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses),
		func(c containerStatus) bool {
			return c.State.Running != nil || c.State.Terminated != nil || c.LastState.Terminated != nil
		})
}

// waits says what a pod that is not ready waits for; "": for nothing that it tells.
func (p *pod) waits() string {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			return sentence(w.Reason, w.Message)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			return sentence(c.Reason, c.Message)
		}
	}
	return ""
}

// sentence is a reason with what is said about it, on one line.
func sentence(reason, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	switch {
	case text == "":
		return reason
	case reason == "":
		return text
	}
	return reason + ": " + text
}

// met says whether an object has come to what is waited for, and else how far it is.
func met(o object, is string) (bool, string) {
	name, want, given := strings.Cut(is, "=")
	if strings.Contains(name, ".") {
		have, ok := field(o, strings.Split(name, "."))
		switch {
		case !ok:
			return false, name + " is not there"
		case have != want:
			return false, fmt.Sprintf("%s is %s", name, have)
		}
		return true, ""
	}
	if !given {
		want = "True"
	}
	status, _ := o["status"].(object)
	for _, c := range listOf(status["conditions"]) {
		c, ok := c.(object)
		if !ok || !strings.EqualFold(textOf(c, "type"), name) {
			continue
		}
		if strings.EqualFold(textOf(c, "status"), want) {
			return current(o, c, status)
		}
		return false, sentence(fmt.Sprintf("%s is %s", name, textOf(c, "status")),
			sentence(textOf(c, "reason"), textOf(c, "message")))
	}
	return false, "it has no condition " + name + " yet"
}

// current says whether a condition is about the object as it is, and not as it was before it
// was changed.
func current(o, c, status object) (bool, string) {
	meta, _ := o["metadata"].(object)
	generation, known := meta["generation"].(float64)
	for _, of := range []object{c, status} {
		if seen, ok := of["observedGeneration"].(float64); ok && known && seen < generation {
			return false, "its controller has not seen it yet"
		}
	}
	return true, ""
}

// field is the text of a field of an object. A number in the path is a place in a list.
func field(v any, path []string) (string, bool) {
	for _, key := range path {
		switch at := v.(type) {
		case object:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return "", false
			}
			v = at[i]
		default:
			return "", false
		}
	}
	switch v := v.(type) {
	case string:
		return v, true
	case nil, object, []any:
		return "", false
	default:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
}
