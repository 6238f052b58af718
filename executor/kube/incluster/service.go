// Package incluster runs services as objects of a Kubernetes cluster, with the user's own kubectl and helm: it
// applies them, waits for their conditions, forwards a port, keeps the logs of their pods, detects crashed
// pods, and removes everything.
//
// All objects are owned by a Job without pods. weir renews the Job's time to live while it runs; after weir
// was killed, the cluster removes the Job and all its objects.
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

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/readiness"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/workload"
)

// Request describes a service to start.
type Request struct {
	Session, Service string
	Start            int // number of the start, for unique names
	Spec             *workload.InCluster
	Address          string                       // of this host, for the tunnel
	Names            func(string) (string, error) // values of the names of a launch
	Log              io.Writer                    // for the output of pods, and weir's messages
	Clock            steady.Clock                 // stamps the lines of the log
	Say              func(text string)            // prints a message
	Kubectl, Helm    string                       // programs; "": these names
}

// Service is a started service.
type Service struct {
	r      Request
	client *kube.Client
	log    *log
	url    string

	applied  []object          // with their uid
	owners   map[string]object // by namespace
	released bool              // there is a helm release

	pods   *pods
	tunnel *tunnel

	background sync.WaitGroup
	stop       context.CancelFunc
	failed     chan error // the first failure after it was ready
}

const (
	pollTime   = 500 * time.Millisecond
	answerTime = time.Minute      // time limit for an answer of the cluster
	slack      = 30 * time.Second // for removing objects, beyond the grace period of pods
)

// Start returns when the service is ready. After a failure, it removes all objects.
func Start(ctx context.Context, r Request) (*Service, error) {
	s := &Service{
		r: r, log: &log{to: r.Log, stamped: r.Spec.Stamped, clock: r.Clock}, owners: map[string]object{},
		failed: make(chan error, 1),
		client: &kube.Client{
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

// value is the value of a name of a launch; the service's own url is that of its tunnel.
func (s *Service) value(name string) (string, error) {
	if name == "service."+s.r.Service+".url" && s.url != "" {
		return s.url, nil
	}
	return s.r.Names(name)
}

// URL is the URL of the service, or "".
func (s *Service) URL() string { return s.url }

// Failed has the first failure after the service was ready.
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

// answers waits until the readiness check succeeds.
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

// unlessBroken is a context that also ends when a pod fails.
func (s *Service) unlessBroken(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if err := s.pods.broken(ctx); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// hints are advice about errors, besides that of kube.
var hints = []kube.Hint{
	{Said: "(Forbidden)", Do: "your account lacks a right in this namespace"},
	{Said: "no matches for kind", Do: "the cluster does not know the kind: its definition (CRD) or operator is not installed"},
	{Said: "(AlreadyExists)", Do: "it does not belong to this session, which would delete it at its end: remove it, or set keep: true"},
	{Said: "denied the request", Do: "an admission policy of this cluster; a patch may help to comply"},
}
