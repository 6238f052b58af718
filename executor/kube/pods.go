package kube

import (
	"slices"
	"strings"
	"time"
)

// Item has the fields of a Pod or a Job that weir reads.
type Item struct {
	Kind     string
	Metadata struct {
		Name, Namespace, UID string
		Labels, Annotations  map[string]string
		OwnerReferences      []Owner
		CreationTimestamp    time.Time
		DeletionTimestamp    *time.Time
	}
	Spec struct {
		NodeName, RestartPolicy string
		Suspend                 bool
		Containers              []struct{ Name, Image string }
	}
	Status struct {
		Phase, Reason, Message string
		Conditions             []Condition
		InitContainerStatuses  []Container
		ContainerStatuses      []Container
	}
}

// Owner is an owner reference.
type Owner struct{ APIVersion, Kind, Name, UID string }

// Condition is a condition of a status.
type Condition struct{ Type, Status, Reason, Message string }

// Container is the status of a container.
type Container struct {
	Name, ImageID    string // ImageID: REPOSITORY@DIGEST, or what the node calls it
	RestartCount     int
	State, LastState State
}

// State is the state of a container: one of the fields is set.
type State struct {
	Waiting    *struct{ Reason, Message string }
	Running    *struct{}
	Terminated *Termination
}

// Termination is how a container ended.
type Termination struct {
	ExitCode, Signal int
	Reason, Message  string
}

// Condition is the condition of a type; the zero value if there is none.
func (i *Item) Condition(of string) Condition {
	for _, c := range i.Status.Conditions {
		if c.Type == of {
			return c
		}
	}
	return Condition{}
}

// Containers are the statuses of all containers, init containers first.
func (i *Item) Containers() []Container {
	return slices.Concat(i.Status.InitContainerStatuses, i.Status.ContainerStatuses)
}

// Hopeless reports whether a container with a reason for waiting will not start by itself.
func Hopeless(reason string) bool {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError",
		"CreateContainerError", "RunContainerError", "CrashLoopBackOff":
		return true
	}
	return false
}

// HopelessTime is the tolerated time in a hopeless state, as registries may fail temporarily.
const HopelessTime = 20 * time.Second

// Sentence is a reason and its message on one line.
func Sentence(reason, message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > 600 {
		message = strings.ToValidUTF8(message[:600], "") + "…"
	}
	switch {
	case message == "":
		return reason
	case reason == "":
		return message
	}
	return reason + ": " + message
}
