// This file runs a service in a Kubernetes cluster.

package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/kube/incluster"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// coordinatorNode stands for the node of a service in a cluster: the coordinator manages it.
const coordinatorNode = "coordinator"

// inCluster is a service in a cluster. Its goroutine posts changes to the session's.
type inCluster struct {
	running  *incluster.Service
	log      *os.File
	redacted *redact.Writer  // writes to log and watch
	bounded  func() error    // stops limiting the log's size
	watch    *logwatch.Watch // of the log's lines
	cancel   context.CancelFunc
	ended    bool // it failed to start
	err      error
}

// startInCluster starts a service in a cluster, in a goroutine.
func (v *services) startInCluster(ctx context.Context, x *service, l *launchRun, number int) error {
	names, c := v.knownNames(l), &inCluster{}
	if err := c.openLog(filepath.Join(v.s.o.Dir, x.log), x.Watch, v.s.secrets); err != nil {
		return fmt.Errorf("the log of service %s: %w", x.Name, err)
	}
	x.inCluster = c
	own := "127.0.0.1"
	if !v.s.singleHost() || v.s.fleet != nil {
		if others, _, err := mesh.HostAddresses(); err == nil && len(others) > 0 {
			own = others[0].String()
		}
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	v.s.ledger.Events.Emit(event.Event{Type: event.ServiceStarted, Service: x.Name, Node: coordinatorNode, Of: x.key})
	request := incluster.Request{
		Session: kubeName(v.s.o.SessionID), Service: x.Name, Start: number, Spec: x.Cluster, Address: own,
		Log: c.redacted, Clock: v.s.ledger.Events.Clock,
		Names: func(name string) (string, error) {
			if value, ok := names[name]; ok {
				return value, nil
			}
			return "", errors.New("it has no value here")
		},
		Say: func(text string) {
			v.s.post(func() {
				v.s.ledger.Events.Emit(event.Event{Type: event.ServiceWaits, Service: x.Name, Reason: text})
			})
		},
	}
	go func() {
		started, err := incluster.Start(running, request)
		v.s.post(func() { v.startedInCluster(x, started, own, err) })
		if err != nil {
			return
		}
		select {
		case err := <-started.Failed():
			v.s.post(func() { x.fail(coordinatorNode, "run", results.Crashed, err) })
		case <-running.Done():
		}
	}()
	return nil
}

func (c *inCluster) openLog(file string, watch logwatch.Spec, secrets []string) (err error) {
	if err = os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if c.log, err = os.Create(file); err != nil {
		return err
	}
	if c.watch, err = logwatch.New(watch); err != nil {
		return err
	}
	if c.bounded, err = agent.BoundLog(c.log); err != nil {
		return err
	}
	c.redacted = agent.HiddenHere(secrets).Writer(io.MultiWriter(c.log, c.watch))
	return nil
}

func (v *services) startedInCluster(x *service, started *incluster.Service, own string, err error) {
	if err != nil {
		x.inCluster.ended = true
		x.fail(coordinatorNode, "ready", results.FailedReady, err)
		return
	}
	x.inCluster.running = started
	facts := &workload.ServiceFacts{
		Seconds: time.Since(x.started).Seconds(), Names: map[string]string{"service." + x.Name + ".address": own},
	}
	if url := started.URL(); url != "" {
		facts.Names["service."+x.Name+".url"] = url
	}
	x.facts = facts
	v.s.ledger.Events.Emit(event.Event{
		Type: event.ServiceReady, Service: x.Name, Node: coordinatorNode, Seconds: facts.Seconds,
	})
}

// close finishes the log, which lacks what could not be written.
func (c *inCluster) close() {
	_ = c.redacted.Flush()
	_ = c.bounded()
	c.log.Close()
}

func (v *services) stopInCluster(ctx context.Context, x *service) error {
	c := x.inCluster
	defer c.close()
	ctx = context.WithoutCancel(ctx)
	if !c.ended && c.running == nil { // it is starting: incluster.Start deletes what it has created
		c.cancel()
		if err := v.s.Wait(ctx, func() bool { return c.ended || c.running != nil }); err != nil {
			return err
		}
	}
	c.cancel()
	if c.running == nil {
		return nil
	}
	done := false
	go func() {
		err := c.running.Stop(ctx)
		v.s.post(func() { done, c.err = true, err })
	}()
	if err := v.s.Wait(ctx, func() bool { return done }); err != nil {
		return err
	}
	if c.err != nil {
		return fmt.Errorf("service %s: %w", x.Name, c.err)
	}
	return nil
}

// observeInCluster observes a service in a cluster: at the beginning of a launch, or since then.
func (v *services) observeInCluster(ctx context.Context, x *service, begin bool) agent.Observation {
	o := agent.Observation{At: v.s.ledger.At(time.Now())}
	if begin {
		x.inCluster.watch.Begin()
	} else {
		o.Matches, o.Tail = x.inCluster.watch.Matches(), agent.Tail(x.inCluster.log)
	}
	if x.Counts {
		var err error
		if o.Page, err = agent.Page(ctx, x.facts.Names["service."+x.Name+".url"]+"/metrics"); err != nil {
			o.Error = err.Error()
		}
	}
	return o
}

func kubeName(session string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, session)
	return strings.Trim(name[:min(len(name), 63)], "-_.")
}
