package kubernetes

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

type event struct {
	Reason, Message string
	LastTimestamp   *time.Time
	EventTime       *time.Time
	Series          *struct{ LastObservedTime *time.Time }
}

// pod is a worker with its pod.
type pod struct {
	launcher.Worker
	name     string // of the pod; "": there is none yet
	image    image
	hopeless bool // it will not start by itself
	silent   bool // it is pending without a reason in its status
}

// advice is advice about reasons for which containers wait.
var advice = map[string]string{
	"ErrImagePull":      "is the image's name right, and may this cluster pull it (the setting kubernetes.pull_secret)?",
	"ImagePullBackOff":  "is the image's name right, and may this cluster pull it (the setting kubernetes.pull_secret)?",
	"ErrImageNeverPull": "the image is not on this node, and kubernetes.pull_policy Never forbids to pull it",
	"RunContainerError": "is weir in the image, where kubernetes.command says? Without that, has the image /bin/sh?",
}

const beingDeleted = "the pod is being deleted"

// judge makes a worker for each index from a session's pods.
func judge(session string, nodes int, items []kube.Item) []pod {
	newest := make([]*kube.Item, nodes)
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
			all[i].State, all[i].silent = launcher.Pending, true
		} else {
			all[i] = judgeOne(it)
		}
		all[i].Node = Node(session, i)
	}
	return all
}

func judgeOne(it *kube.Item) pod {
	p := pod{name: it.Metadata.Name, image: imageOf(it)}
	c := agentOf(it)
	disrupted := it.Condition("DisruptionTarget")
	switch {
	case c.State.Terminated != nil:
		t := c.State.Terminated
		p.State, p.Code = launcher.Exited, t.ExitCode
		p.Reason = kube.Sentence(t.Reason, t.Message)
		if t.Reason == "Completed" || t.Reason == "Error" { // redundant with the exit code
			p.Reason = t.Message
		}
		if t.Signal != 0 {
			p.Reason = strings.TrimPrefix(p.Reason+fmt.Sprintf("; signal %d", t.Signal), "; ")
		}
		switch {
		case disrupted.Status == "True":
			p.Reason = kube.Sentence(disrupted.Reason, disrupted.Message)
		case it.Metadata.DeletionTimestamp != nil && p.Reason == "":
			p.Reason = beingDeleted
		}
	case it.Status.Phase == "Failed": // evicted, refused by the node, past its deadline
		p.State, p.Reason = launcher.Lost, kube.Sentence(it.Status.Reason, it.Status.Message)
	case it.Status.Phase == "Succeeded":
		p.State = launcher.Exited
	case disrupted.Status == "True":
		p.State, p.Reason = launcher.Lost, kube.Sentence(disrupted.Reason, disrupted.Message)
	case it.Metadata.DeletionTimestamp != nil:
		p.State, p.Reason = launcher.Lost, beingDeleted
	case c.State.Running != nil && nodeAway(it):
		p.State, p.Reason = launcher.Lost, "the node "+it.Spec.NodeName+" does not answer the cluster"
	case c.State.Running != nil:
		p.State = launcher.Running
	default:
		p.pending(it, c)
	}
	return p
}

// pending sets the reason why the agent is not running yet.
func (p *pod) pending(it *kube.Item, c kube.Container) {
	p.State = launcher.Starting
	scheduled := it.Condition("PodScheduled")
	if it.Spec.NodeName == "" {
		p.State = launcher.Pending
		p.Reason = kube.Sentence(cmp.Or(scheduled.Reason, "Unschedulable"), scheduled.Message)
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
	if waiting == nil || !kube.Hopeless(waiting.Reason) {
		return
	}
	p.hopeless, p.silent = true, false
	p.Reason = kube.Sentence(waiting.Reason, waiting.Message)
	if do := advice[waiting.Reason]; do != "" {
		p.Reason += " (" + do + ")"
	}
}

// nodeAway reports whether the control plane has set the pod to not ready, as it does for unreachable nodes; a
// kubelet would also set ContainersReady, or a reason.
func nodeAway(it *kube.Item) bool {
	ready := it.Condition("Ready")
	return ready.Status == "Unknown" || ready.Status == "False" && ready.Reason == "" &&
		it.Condition("ContainersReady").Status == "True"
}

// agentOf is the status of weir's container.
func agentOf(it *kube.Item) kube.Container {
	for _, c := range it.Status.ContainerStatuses {
		if c.Name == agent {
			return c
		}
	}
	return kube.Container{}
}

// latest is the text of the newest event, or "".
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
			text, at = kube.Sentence(e.Reason, e.Message), *when
		}
	}
	return text
}
