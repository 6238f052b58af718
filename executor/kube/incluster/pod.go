package incluster

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/executor/kube"
)

// pod is a pod of a service.
type pod struct{ kube.Item }

// mostRestarts is the number of restarts of a container that are tolerated before the service is ready, as
// containers may depend on others.
const mostRestarts = 3

// crash is the failure of a pod.
type crash struct {
	container string
	text      string
	previous  bool // the container was restarted: the output is that of the previous one
	waiting   bool // the failure may pass
}

// judge is the failure of a pod, or nil.
func (p *pod) judge(ready bool) *crash {
	if p.Metadata.DeletionTimestamp != nil {
		return nil // deleted on purpose
	}
	for i, c := range p.Containers() {
		init := i < len(p.Status.InitContainerStatuses)
		if t := c.State.Terminated; t != nil &&
			(t.ExitCode != 0 || ready && !init && p.Spec.RestartPolicy == "Always") {
			restarts := p.Spec.RestartPolicy != "Never" && p.Status.Phase != "Failed"
			if !ready && restarts && c.RestartCount < mostRestarts {
				continue
			}
			return &crash{container: c.Name, text: describe(t)}
		}
		w, t := c.State.Waiting, c.LastState.Terminated
		switch {
		case t != nil && t.ExitCode != 0 && (ready || c.RestartCount >= mostRestarts ||
			w != nil && w.Reason == "CrashLoopBackOff"):
			return &crash{container: c.Name, text: describe(t), previous: true}
		case w != nil && kube.Hopeless(w.Reason):
			return &crash{container: c.Name, text: kube.Sentence(w.Reason, w.Message), waiting: true}
		}
	}
	if p.Status.Phase == "Failed" { // evicted, refused by its node
		return &crash{text: kube.Sentence(p.Status.Reason, p.Status.Message)}
	}
	return nil
}

func describe(t *kube.Termination) string {
	text := fmt.Sprintf("exit code %d", t.ExitCode)
	if t.Signal != 0 {
		text += fmt.Sprintf(", signal %d", t.Signal)
	}
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += ", " + t.Reason
	}
	return text
}

// begun reports whether any container of the pod has run.
func (p *pod) begun() bool {
	return slices.ContainsFunc(p.Containers(), func(c kube.Container) bool {
		return c.State.Running != nil || c.State.Terminated != nil || c.LastState.Terminated != nil
	})
}

// waits is the reason why a pod waits, or "".
func (p *pod) waits() string {
	for _, c := range p.Containers() {
		if w := c.State.Waiting; w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			return kube.Sentence(w.Reason, w.Message)
		}
	}
	if c := p.Condition("PodScheduled"); c.Status == "False" {
		return kube.Sentence(c.Reason, c.Message)
	}
	return ""
}
