package kubernetes

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weir/executor/launch"
)

// What is read of Kubernetes' objects.

type item struct {
	Kind     string
	Metadata struct {
		Name              string
		Annotations       map[string]string
		CreationTimestamp time.Time
		DeletionTimestamp *time.Time
	}
	Spec struct {
		NodeName string
		Suspend  bool
	}
	Status status
}

type status struct {
	Phase                 string
	Reason, Message       string
	Conditions            []condition
	ContainerStatuses     []containerStatus
	InitContainerStatuses []containerStatus
}

type condition struct{ Type, Status, Reason, Message string }

type containerStatus struct {
	Name  string
	State struct {
		Waiting    *struct{ Reason, Message string }
		Running    *struct{ StartedAt time.Time }
		Terminated *struct {
			ExitCode, Signal int
			Reason, Message  string
		}
	}
}

type event struct {
	Reason, Message string
	LastTimestamp   *time.Time
	EventTime       *time.Time
	Series          *struct{ LastObservedTime *time.Time }
}

// pod is one of the session's, judged.
type pod struct {
	launch.Worker
	name string // of the pod; "": there is none yet
	// hopeless is a reason that does not go away by waiting.
	hopeless bool
	silent   bool // pending, and the pod itself does not say why
}

// hopeless reasons for which a container waits: the pod will not run before somebody
// changes something.
var hopelessReasons = map[string]string{
	"ErrImagePull":               "is the image's name right, and may this cluster pull it (--kube-pull-secret)?",
	"ImagePullBackOff":           "is the image's name right, and may this cluster pull it (--kube-pull-secret)?",
	"InvalidImageName":           "",
	"ErrImageNeverPull":          "the image is not on this node, and --kube-pull-policy Never forbids to pull it",
	"CreateContainerConfigError": "",
	"CreateContainerError":       "",
	"RunContainerError":          "is weir in the image, where --kube-command says? Without that, has the image /bin/sh?",
	"CrashLoopBackOff":           "",
}

const beingDeleted = "somebody is deleting the pod"

// judge makes one worker of each index out of a session's pods.
func judge(session string, nodes int, items []item) []pod {
	newest := make([]*item, nodes)
	for i := range items {
		it := &items[i]
		index, err := strconv.Atoi(it.Metadata.Annotations[indexMark])
		if it.Kind != "Pod" || err != nil || index < 0 || index >= nodes {
			continue
		}
		if newest[index] == nil || newest[index].Metadata.CreationTimestamp.Before(it.Metadata.CreationTimestamp) {
			newest[index] = it
		}
	}
	all := make([]pod, nodes)
	for i, it := range newest {
		if it == nil {
			all[i].State, all[i].silent = launch.Pending, true
		} else {
			all[i] = it.judge()
		}
		all[i].Node = Node(session, i)
	}
	return all
}

func (it *item) judge() pod {
	p := pod{name: it.Metadata.Name}
	c := it.agent()
	disrupted := it.condition("DisruptionTarget")
	switch {
	case c.State.Terminated != nil:
		t := c.State.Terminated
		p.State, p.Code = launch.Exited, t.ExitCode
		p.Reason = sentence(t.Reason, t.Message)
		if t.Reason == "Completed" || t.Reason == "Error" { // which the code says
			p.Reason = t.Message
		}
		if t.Signal != 0 {
			p.Reason = strings.TrimPrefix(p.Reason+fmt.Sprintf("; signal %d", t.Signal), "; ")
		}
		switch {
		case disrupted.Status == "True":
			p.Reason = sentence(disrupted.Reason, disrupted.Message)
		case it.Metadata.DeletionTimestamp != nil && p.Reason == "":
			p.Reason = beingDeleted
		}
	case it.Status.Phase == "Failed": // evicted, refused by the node, past its deadline
		p.State, p.Reason = launch.Lost, sentence(it.Status.Reason, it.Status.Message)
	case it.Status.Phase == "Succeeded":
		p.State = launch.Exited
	case disrupted.Status == "True":
		p.State, p.Reason = launch.Lost, sentence(disrupted.Reason, disrupted.Message)
	case it.Metadata.DeletionTimestamp != nil:
		p.State, p.Reason = launch.Lost, beingDeleted
	case c.State.Running != nil && it.nodeAway():
		p.State, p.Reason = launch.Lost, "the node "+it.Spec.NodeName+" does not answer the cluster"
	case c.State.Running != nil:
		p.State = launch.Running
	default:
		p.pending(it, c)
	}
	return p
}

// pending says why the agent is not running yet.
func (p *pod) pending(it *item, c containerStatus) {
	p.State = launch.Starting
	scheduled := it.condition("PodScheduled")
	if it.Spec.NodeName == "" {
		p.State = launch.Pending
		p.Reason = sentence(cmp.Or(scheduled.Reason, "Unschedulable"), scheduled.Message)
		p.silent = scheduled.Status == ""
		return
	}
	waiting := c.State.Waiting
	for _, init := range it.Status.InitContainerStatuses {
		if w := init.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			waiting = w
		}
	}
	p.silent = true
	if waiting == nil {
		return
	}
	advice, hopeless := hopelessReasons[waiting.Reason]
	if p.hopeless = hopeless; hopeless {
		p.Reason = sentence(waiting.Reason, waiting.Message)
		if advice != "" {
			p.Reason += " (" + advice + ")"
		}
		p.silent = false
	}
}

// nodeAway says whether the control plane has taken the pod's readiness away, which it
// does when it has not heard of the node; a kubelet would say that of the containers
// too, or give a reason.
func (it *item) nodeAway() bool {
	ready := it.condition("Ready")
	return ready.Status == "Unknown" || ready.Status == "False" && ready.Reason == "" &&
		it.condition("ContainersReady").Status == "True"
}

// agent is what the cluster says of weir's own container.
func (it *item) agent() containerStatus {
	for _, c := range it.Status.ContainerStatuses {
		if c.Name == agent {
			return c
		}
	}
	return containerStatus{}
}

func (it *item) condition(kind string) condition {
	for _, c := range it.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return condition{}
}

// latest is the newest of an object's events as text, "" if there are none.
func latest(events []event) string {
	var text string
	var at time.Time
	for _, e := range events {
		when := e.LastTimestamp
		if e.Series != nil && e.Series.LastObservedTime != nil {
			when = e.Series.LastObservedTime
		}
		if when == nil {
			when = e.EventTime
		}
		if when == nil {
			when = new(time.Time)
		}
		if text == "" || !when.Before(at) {
			text, at = sentence(e.Reason, e.Message), *when
		}
	}
	return text
}

// sentence is a reason with what is said about it, on one line.
func sentence(reason, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 600 {
		text = text[:600] + "…"
	}
	switch {
	case text == "":
		return reason
	case reason == "":
		return text
	}
	return reason + ": " + text
}
