package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir/engine/mesh"
	"weir/executor/agent"
	"weir/executor/event"
	"weir/executor/incluster"
	"weir/logwatch"
	"weir/redact"
	"weir/results"
	"weir/workload"
)

// here is what a service in a cluster has instead of a node: weir itself asks the cluster for it.
const here = "coordinator"

// inCluster is a service in a cluster. All but the work of its goroutine is the session's.
type inCluster struct {
	running  *incluster.Service
	log      *os.File
	redacted *redact.Writer  // in front of the log
	bounded  func() error    // ends what bounds the log
	watch    *logwatch.Watch // of its lines
	cancel   context.CancelFunc
	over     bool // its goroutine has ended
	err      error
}

// startInCluster starts a service in a cluster. v.calls get the outcome.
func (v *services) startInCluster(ctx context.Context, x *service, l *launched, number int) error {
	names := map[string]string{}
	maps.Copy(names, l.values)
	for _, other := range v.up {
		if other.facts != nil {
			maps.Copy(names, other.facts.Names)
		}
	}
	file := filepath.Join(v.s.o.Dir, x.log)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("the log of service %s: %w", x.Name, err)
	}
	log, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("the log of service %s: %w", x.Name, err)
	}
	c := &inCluster{log: log}
	x.inCluster = c
	if c.watch, err = logwatch.New(x.Watch); err != nil {
		return fmt.Errorf("the log of service %s: %w", x.Name, err)
	}
	if c.bounded, err = agent.BoundLog(log); err != nil {
		return fmt.Errorf("the log of service %s: %w", x.Name, err)
	}
	c.redacted = agent.HiddenHere(v.s.secrets).Writer(io.MultiWriter(log, c.watch))
	own := "127.0.0.1"
	if !v.s.alone() || v.s.fleet != nil {
		if others, _, err := mesh.HostAddresses(); err == nil && len(others) > 0 {
			own = others[0].String()
		}
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	v.s.ledger.Events.Emit(event.Event{Type: event.ServiceStarted, Service: x.Name, Node: here, Of: x.key})
	request := incluster.Request{
		Session: kubeName(v.s.o.SessionID), Service: x.Name, Start: number, Spec: x.Cluster, Address: own,
		Log: c.redacted,
		Names: func(name string) (string, error) {
			if value, ok := names[name]; ok {
				return value, nil
			}
			return "", errors.New("it has no value here")
		},
		Say: func(text string) {
			v.s.call(func() {
				v.s.ledger.Events.Emit(event.Event{Type: event.ServiceWaits, Service: x.Name, Reason: text})
			})
		},
	}
	go func() {
		started, err := incluster.Start(running, request)
		v.s.call(func() { v.startedInCluster(x, started, own, err) })
		if err != nil {
			return
		}
		select {
		case err := <-started.Failed():
			v.s.call(func() { x.end(x.broken("run", results.Crashed, err)) })
		case <-running.Done():
		}
	}()
	return nil
}

func (v *services) startedInCluster(x *service, started *incluster.Service, own string, err error) {
	if err != nil {
		x.inCluster.over = true
		x.end(x.broken("ready", results.FailedReady, err))
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
	v.s.ledger.Events.Emit(event.Event{Type: event.ServiceReady, Service: x.Name, Node: here, Seconds: facts.Seconds})
}

func (x *service) broken(phase, kind string, err error) *results.Failure {
	return &results.Failure{
		Rank: -1, Node: here, Phase: phase, Kind: kind, Cause: fmt.Sprintf("service %s: %v", x.Name, err),
	}
}

// close finishes the log. What could not be written of it is missing in it.
func (c *inCluster) close() {
	if c.redacted != nil {
		_ = c.redacted.Flush()
	}
	_ = c.bounded()
	c.log.Close()
}

// stopInCluster takes a service out of its cluster.
func (v *services) stopInCluster(ctx context.Context, x *service) error {
	c := x.inCluster
	defer c.close()
	ctx = context.WithoutCancel(ctx)
	if !c.over && c.running == nil { // it is still starting: it takes away itself what it has made
		c.cancel()
		if err := v.s.Wait(ctx, func() bool { return c.over || c.running != nil }); err != nil {
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
		v.s.call(func() { done, c.err = true, err })
	}()
	if err := v.s.Wait(ctx, func() bool { return done }); err != nil {
		return err
	}
	if c.err != nil {
		return fmt.Errorf("service %s: %w", x.Name, c.err)
	}
	return nil
}

// observeInCluster is what was seen of a service in a cluster since the launch began, or says that
// this is now.
func (v *services) observeInCluster(ctx context.Context, x *service, begin bool) agent.Observation {
	o := agent.Observation{At: time.Now()}
	if begin {
		x.inCluster.watch.Begin()
	} else {
		o.Matches, o.Tail = x.inCluster.watch.Matches(), agent.Tail(x.inCluster.log)
	}
	if x.Counts {
		var err error
		if o.Page, err = page(ctx, x.facts.Names["service."+x.Name+".url"]+"/metrics"); err != nil {
			o.Error = err.Error()
		}
	}
	return o
}

// mostPage bounds what a service counts.
const mostPage = 64 << 20

func page(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, mostPage))
}

// kubeName is a session's id as the value of a label of Kubernetes.
func kubeName(session string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, session)
	return strings.Trim(name[:min(len(name), 63)], "-_.")
}
