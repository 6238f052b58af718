package kubernetes

import (
	"context"
	"os/exec"

	"weir/executor/kubectl"
)

func (l *Launcher) client() *kubectl.Client {
	return &kubectl.Client{
		Program: l.o.Kubectl, Context: l.o.Context, Namespace: l.o.Namespace, Hints: hints,
		Missing: "install it or name another with --kube-kubectl",
	}
}

// kubectl runs the user's kubectl and returns what it wrote.
func (l *Launcher) kubectl(ctx context.Context, in []byte, args ...string) (out []byte, warnings []string, err error) {
	return l.client().Run(ctx, in, args...)
}

func (l *Launcher) command(ctx context.Context, args ...string) *exec.Cmd {
	return l.client().Command(ctx, args...)
}

// hints are what to do about errors that people meet before anything works.
var hints = []kubectl.Hint{
	{Said: "exceeded quota",
		Do: "ask for less with --kube-resource, or for more quota"},
	{Said: "denied the request",
		Do: "a rule of this cluster, which --kube-patch may help to follow"},
	{Said: "(Forbidden)",
		Do: "your account lacks a right: weir needs create, get, list, patch and delete of jobs, get, list, create and delete of services and secrets, get, list and delete of pods, get of pods/log, create of pods/exec where weir is copied, list of events, in one namespace"},
	{Said: "(Unauthorized)",
		Do: "sign in again, or choose another context with --kube-context"},
	{Said: "must be logged in",
		Do: "sign in again, or choose another context with --kube-context"},
	{Said: "connection refused",
		Do: "is this the right cluster? \"kubectl config get-contexts\" lists those that there are; choose with --kube-context"},
	{Said: "no such host",
		Do: "is this the right cluster? \"kubectl config get-contexts\" lists those that there are; choose with --kube-context"},
	{Said: "context was not found",
		Do: "\"kubectl config get-contexts\" lists those that there are"},
	{Said: "does not exist",
		Do: "\"kubectl config get-contexts\" lists the contexts that there are"},
	{Said: "namespaces \"",
		Do: "choose another with --kube-namespace, or make it with \"kubectl create namespace\""},
	{Said: "(AlreadyExists)",
		Do: "a former coordinator of this session left it; \"kubectl delete job\" removes it with all that it owns"},
}

func (l *Launcher) explain(verb, stderr string, err error) error {
	return l.client().Explain(verb, stderr, err)
}

// create makes objects and returns the first of them as the cluster has it.
func (l *Launcher) create(ctx context.Context, objects []any, args ...string) (object, []string, error) {
	return l.client().Create(ctx, objects, args...)
}

// get reads a list of objects into out.
func (l *Launcher) get(ctx context.Context, out any, args ...string) error {
	return l.client().Get(ctx, out, args...)
}
