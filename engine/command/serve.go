package command

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/internal/written"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
)

// serve starts the service in the first case, which ends when it is ready, and waits in the second until the service is
// stopped: it never ends by itself.
func (r *rank) serve(ctx context.Context) (*workload.Part, error) {
	if !r.ready {
		return r.startService(ctx)
	}
	p := r.program
	defer p.kill()
	select {
	case <-p.ended:
		return nil, p.words(fmt.Errorf("it ended while it was needed: %s", p.status()))
	case <-ctx.Done():
	}
	stop := r.spec.Serves.Stop
	p.finish(stop.Number(), stop.Within)
	return nil, p.words(context.Cause(ctx))
}

func (r *rank) startService(ctx context.Context) (*workload.Part, error) {
	proof, err := r.proof()
	if err != nil {
		return nil, err
	}
	before := written.State(proof)
	p, err := r.start()
	if err != nil {
		return nil, err
	}
	if err := r.awaitReady(ctx, p); err != nil {
		p.finish(r.spec.Serves.Stop.Number(), abortGrace)
		return nil, p.words(err)
	}
	facts := workload.ServiceFacts{
		Seconds: time.Since(p.began).Seconds(), Names: map[string]string{}, Proof: proof, Before: before,
	}
	for _, what := range r.offers() {
		if facts.Names[serviceName(r.role.Name, what)], err = r.own(what); err != nil {
			p.kill()
			return nil, err
		}
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	r.ready = true
	return &workload.Part{Facts: text}, nil
}

// proof returns the path of the file that must exist after a launch.
func (r *rank) proof() (string, error) {
	path, err := r.expand(r.spec.Serves.Proof)
	if err != nil || path == "" {
		return "", err
	}
	return filepath.Abs(path)
}

func serviceName(service, what string) string { return "service." + service + "." + what }

// offers returns the properties of the service that launches may name.
func (r *rank) offers() []string {
	all := []string{"address"}
	if r.spec.Serves.URL != "" {
		all = append(all, "url")
	}
	for _, port := range r.spec.PortsOf(r.self) {
		all = append(all, "port."+port)
	}
	return all
}

// own returns the value of a property of this service.
func (r *rank) own(what string) (string, error) {
	if name, ok := command.Port(what); ok {
		return r.value("port." + name)
	}
	if what == "url" {
		url, err := r.expand(r.spec.Serves.URL)
		return strings.TrimSuffix(url, "/"), err
	}
	if r.launch.Alone {
		return "127.0.0.1", nil
	}
	others, loopback, err := mesh.HostAddresses()
	if all := append(others, loopback...); err == nil && len(all) > 0 {
		return all[0].String(), nil
	}
	return "127.0.0.1", err
}
