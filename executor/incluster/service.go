// Package incluster runs services that are objects of a Kubernetes cluster, by the user's own
// kubectl and helm: it applies them, waits for what they are to come to, leads a port to this
// host, keeps the logs of their pods, notices pods that crash, and takes all of it away.
//
// All objects belong to a Job without pods. weir renews the time to live of that Job while it runs.
// When weir was killed and nobody does so any more, the cluster removes the Job and all that it
// owns.
package incluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"weir/executor/kubectl"
	"weir/placeholder"
	"weir/readiness"
	"weir/workload"
)

// Request is a service that is to start.
type Request struct {
	Session, Service string
	Start            int // which of the session's, so that each has names of its own
	Spec             *workload.InCluster
	Address          string                       // of this host, where a tunnel listens
	Names            func(string) (string, error) // values of names of a launch
	Log              io.Writer                    // gets the pods' output, and what weir does
	Say              func(text string)            // tells the user what is waited for
	Kubectl, Helm    string                       // programs; "": these names
}

// Service is one that has been started.
type Service struct {
	r      Request
	client *kubectl.Client
	log    *log
	url    string

	applied  []object          // as the cluster has them, with their uid
	owners   map[string]object // by namespace
	released bool              // helm has made a release

	pods   *pods
	tunnel *tunnel

	background sync.WaitGroup
	stop       context.CancelFunc
	failed     chan error // the first that went wrong after it was ready
}

// The time between two questions about what is waited for, and for which nobody answers before
// it is an error.
const (
	pollTime   = 500 * time.Millisecond
	answerTime = time.Minute
	// hopelessTime is how long an image that cannot be had may be tried for: registries hiccup.
	hopelessTime = 20 * time.Second
	// slack is what a cluster may take beyond the grace of pods to take objects away.
	slack = 30 * time.Second
)

// Start returns when the service is ready. Where it does not come to that, nothing is left.
func Start(ctx context.Context, r Request) (*Service, error) {
	s := &Service{
		r: r, log: &log{to: r.Log, stamped: r.Spec.Stamped}, owners: map[string]object{}, failed: make(chan error, 1),
		client: &kubectl.Client{
			Program: r.Kubectl, Context: r.Spec.Context, Namespace: r.Spec.Namespace, Hints: hints,
			Missing: "install it, or put it on the PATH of weir",
		},
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.pods = newPods(s)
	if err := s.start(ctx, running); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Service) start(ctx, running context.Context) error {
	if err := s.apply(ctx, running); err != nil {
		return err
	}
	s.background.Go(func() { s.pods.watch(running) })
	if err := s.install(ctx, running); err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	var err error
	if s.r.Spec.Tunnel != nil {
		if s.tunnel, err = s.dig(ctx, running); err != nil {
			return err
		}
		s.url = "http://" + net.JoinHostPort(s.r.Address, fmt.Sprint(s.tunnel.port))
	}
	if s.r.Spec.URL != "" {
		if s.url, err = placeholder.Expand(s.r.Spec.URL, s.value); err != nil {
			return err
		}
	}
	s.url = strings.TrimSuffix(s.url, "/")
	if err := s.answers(ctx); err != nil {
		return err
	}
	return s.pods.ready()
}

// value gives a name of a launch its value; the service's own url is that of its tunnel.
func (s *Service) value(name string) (string, error) {
	if name == "service."+s.r.Service+".url" && s.url != "" {
		return s.url, nil
	}
	return s.r.Names(name)
}

// URL is where the service answers; "": that is not known.
func (s *Service) URL() string { return s.url }

// Failed has the first thing that went wrong after the service was ready.
func (s *Service) Failed() <-chan error { return s.failed }

func (s *Service) fail(err error) {
	select {
	case s.failed <- err:
	default: // there is an earlier one
	}
}

func (s *Service) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.log.note(text)
	if s.r.Say != nil {
		s.r.Say(text)
	}
}

// answers waits until the url answers as it is to.
func (s *Service) answers(ctx context.Context) error {
	want := s.r.Spec.HTTP
	if want == "" {
		return nil
	}
	at, err := placeholder.Expand(want, s.value)
	if err != nil {
		return err
	}
	if !strings.Contains(at, "://") {
		at = s.url + "/" + strings.TrimPrefix(at, "/")
	}
	contains, err := placeholder.Expand(s.r.Spec.Contains, s.value)
	if err != nil {
		return err
	}
	s.say("waiting for %s", at)
	ctx, cancel := s.unlessBroken(ctx)
	defer cancel()
	check := readiness.Check{HTTP: at, Contains: contains, Within: s.r.Spec.Ready}
	if err = check.Wait(ctx, readiness.Subject{}); err != nil && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("it did not become ready: %w", err)
	}
	return nil
}

// unlessBroken is a context that ends, too, when a pod is broken.
func (s *Service) unlessBroken(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if err := s.pods.broken(ctx); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// hints are what to do about errors that people meet before anything works.
var hints = []kubectl.Hint{
	{Said: "(Forbidden)", Do: "your account lacks a right in this namespace"},
	{Said: "(Unauthorized)", Do: "sign in again, or choose another context"},
	{Said: "must be logged in", Do: "sign in again, or choose another context"},
	{Said: "connection refused", Do: "is this the right cluster? \"kubectl config get-contexts\" lists those that there are"},
	{Said: "no such host", Do: "is this the right cluster? \"kubectl config get-contexts\" lists those that there are"},
	{Said: "does not exist", Do: "\"kubectl config get-contexts\" lists the contexts that there are"},
	{Said: "no matches for kind", Do: "the cluster does not know the kind: its definition (CRD) or operator is not installed"},
	{Said: "(AlreadyExists)", Do: "it is not this session's, which would delete it at its end: remove it, or say keep: true"},
	{Said: "denied the request", Do: "a rule of this cluster, which patch may help to follow"},
}
