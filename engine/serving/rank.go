// Package serving runs the ranks of workload serving: each is a client of an OpenAI-compatible endpoint, and all of a
// launch share one schedule.
package serving

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/client"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/prompt"
)

func init() { engine.Register(serving.Runner, runner{}) }

// connectWithin is the time limit for clients to connect to each other.
const connectWithin = 30 * time.Second

type runner struct{}

func (runner) Open(l engine.Launch, self engine.Identity, c *engine.Control) (engine.Rank, error) {
	if len(l.Cases) == 0 {
		return nil, errors.New("a launch of clients has no case")
	}
	return &rank{launch: l, self: self.Rank, control: c, inbox: mesh.InboxOf(self.Rank, l.Ranks)}, nil
}

// Reveals returns the environment variables in headers of the case's requests.
func (runner) Reveals(c engine.Case) ([]string, error) {
	s, err := serving.Read(c.Spec, nil)
	if err != nil {
		return nil, err
	}
	return s.Reveals(), nil
}

// rank is the process of one client.
type rank struct {
	launch  engine.Launch
	self    int
	control *engine.Control
	inbox   *mesh.Inbox
	mesh    *mesh.Mesh
	floor   float64 // s; 0: not measured yet
	ready   bool
}

// Address returns the address of this client for the others.
func (r *rank) Address() (address []byte, err error) {
	if r.mesh, err = mesh.Listen(r.launch.Nodes, r.self); err != nil {
		return nil, err
	}
	return r.mesh.Address(nil)
}

func (r *rank) Connect(addresses [][]byte) error {
	_, err := r.mesh.Connect(addresses, connectWithin, r.inbox.Put)
	return err
}

func (r *rank) Close() error { return r.mesh.Close() }

// share sends a message to all other clients, and returns the messages of all.
func (r *rank) share(ctx context.Context, message []byte) ([][]byte, error) {
	r.mesh.Broadcast(message)
	all, err := r.inbox.Take(ctx)
	if err != nil {
		return nil, err
	}
	all[r.self] = message
	return all, nil
}

// run is one case of a client.
type run struct {
	*rank
	ctx   context.Context
	c     engine.Case
	spec  *serving.Spec
	with  client.Config
	facts serving.Facts
	ready []load.Record // of phases before the measured one
	words prompt.Calibration
	proxy string // note about a proxy
}

// Run waits until the endpoint is ready, warms it up and measures the load.
func (r *rank) Run(c engine.Case) (*workload.Part, error) {
	spec, err := serving.Read(c.Spec, c.Large)
	if err != nil {
		return nil, err
	}
	r.control.Phase.Store(engine.PhaseWarmup)
	ctx, stop := r.control.Watch("", time.Duration(c.Timeout+c.Before))
	defer stop()
	k := &run{rank: r, ctx: ctx, c: c, spec: spec}
	if k.with, err = k.config(); err != nil {
		return nil, k.fault(err)
	}
	k.facts.Endpoint = k.with.URL
	if r.floor == 0 {
		if r.floor, err = floor(ctx, k.with); err != nil {
			return nil, k.fault(fmt.Errorf("measuring the client itself: %w", err))
		}
	}
	k.facts.Floor = r.floor
	records, err := k.measure()
	if err != nil {
		return k.unfinished(records), k.fault(err)
	}
	k.facts.Errors = causes(records, int(spec.MaxInFlight))
	k.facts.Notes = append(k.facts.Notes, k.notes(records)...)
	return serving.Encode(c.Key, r.launch.Index, r.self, &k.facts, append(k.ready, records...))
}

// unfinished returns the requests that had ended when the load was stopped; nil: none.
func (k *run) unfinished(records []load.Record) *workload.Part {
	records = slices.DeleteFunc(records, func(r load.Record) bool { return r.Outcome == load.Unfinished })
	if len(records) == 0 {
		return nil
	}
	part, err := serving.Encode(k.c.Key, k.launch.Index, k.self, &k.facts, records)
	if err != nil {
		return nil // the reason of the stop takes precedence
	}
	part.Unfinished = true
	return part
}

// fault is an error of this client. If the launch is stopped, that is the error.
func (k *run) fault(err error) error {
	if cause := context.Cause(k.ctx); cause != nil {
		err = cause
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return &engine.Error{Phase: engine.PhaseName(k.control.Phase.Load()), Peer: -1, Text: err.Error()}
}

// config returns the client's settings, with the values of names.
func (k *run) config() (c client.Config, err error) {
	s := k.spec
	c = client.Config{Chat: s.API == string(prompt.Chat), Stream: s.Stream, HTTP2: s.HTTP2, Headers: http.Header{},
		Choices: s.Choices()}
	if c.URL, err = placeholder.Expand(s.URL, k.value); err != nil {
		return c, fmt.Errorf("url: %w", err)
	}
	for _, h := range s.Headers {
		value, err := placeholder.Expand(h.Value, k.value)
		if err != nil {
			return c, fmt.Errorf("header %s: %w", h.Name, err)
		}
		c.Headers.Set(h.Name, value)
	}
	if c.CA, err = base64.StdEncoding.DecodeString(s.Authority); err != nil {
		return c, fmt.Errorf("tls_ca: %w", err)
	}
	t, most := s.Timeouts, s.MaxAnswer
	c.Connect, c.First, c.Idle, c.Total = t.Connect, t.First, t.Idle, t.Total
	c.Bytes, c.Events, c.Proxy = int64(most.Bytes), most.Events, s.Proxy
	return c, nil
}

// value returns the value of a name of the launch, or of client.env.NAME.
func (k *run) value(name string) (string, error) {
	variable, ok := strings.CutPrefix(name, serving.EnvPrefix)
	if !ok {
		if value, ok := k.launch.Names[name]; ok {
			return value, nil
		}
		return "", errors.New("it has no value here")
	}
	if value, set := os.LookupEnv(variable); set {
		return value, nil
	}
	return "", errors.New("the variable is not set in the environment of the client; set it in env of the run")
}

// prompts makes the requests of a level of a search, or of a load without one.
func (k *run) prompts(level int) (*prompt.Set, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d\x00%s\x00%d", k.launch.ID, k.launch.Index, k.c.Key, level)
	return k.spec.Prompts(uint64(k.launch.Index), binary.LittleEndian.Uint64(h.Sum(nil)), k.words)
}

// endpoint is what client 0 found out for all clients.
type endpoint struct {
	Words prompt.Calibration
	Ready float64
}

// agree distributes what client 0 found out about the endpoint.
func (k *run) agree(mine endpoint) (endpoint, error) {
	var message []byte
	if k.self == 0 {
		message, _ = json.Marshal(mine) // numbers always encode
	}
	all, err := k.share(k.ctx, message)
	if err != nil {
		return endpoint{}, err
	}
	var out endpoint
	return out, json.Unmarshal(all[0], &out)
}
