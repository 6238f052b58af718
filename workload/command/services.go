package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

// Service is a program that outlives a launch, or objects in a Kubernetes cluster.
type Service struct {
	Program
	Kubernetes *Kubernetes    `key:"kubernetes"`
	Helm       *Helm          `key:"helm"`
	Tunnel     *Tunnel        `key:"tunnel"` // moved into Kubernetes after reading
	URL        string         `key:"url,late"`
	Fresh      workload.Fresh `key:"fresh,one=session|run|variant|launch"`
	Stop       Stop           `key:"stop,whole"`
	// Metrics and Proof are read for each launch that uses the service.
	Metrics []Observe `key:"metrics"`
	Proof   *Proof    `key:"proof"`
}

// Stop says how a service is stopped.
type Stop struct {
	Signal Signal        `key:"signal"`
	Within time.Duration `key:"within,max=10m"` // until SIGKILL; the end of a session waits for it
}

// Signal is the name of a signal, as SIGTERM.
type Signal string

// ReadValue reads a name with or without SIG.
func (s *Signal) ReadValue(d *structure.Decoder, v *structure.Value) {
	*s = Signal("SIG" + strings.TrimPrefix(strings.ToUpper(d.Text(v, false)), "SIG"))
	if !slices.Contains(stopSignals, *s) {
		d.Fail("%q is none of SIGTERM, SIGINT, SIGQUIT, SIGHUP", string(*s))
	}
}

var stopByDefault = Stop{Signal: "SIGTERM", Within: 5 * time.Second}

// stopSignals are the signals that stop a program. Its rank ignores them.
var stopSignals = []Signal{"SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"}

// serviceReadyWithin is longer than readyWithin: a server may load a model first.
const serviceReadyWithin = 10 * time.Minute

const nothingServed = "{}"

// ServicesOption is the option services of workloads.
var ServicesOption = option.Option{
	Name: "services", Type: option.Structure, Default: nothingServed, Process: true, Late: serviceLate,
	Read: canonicalServices,
}

// service has the defaults of a service.
func service(_ string, v *structure.Value) Service {
	s := Service{Program: programOf(serviceReadyWithin), Fresh: workload.FreshSession, Stop: stopByDefault}
	if v.At("kubernetes") != nil || v.At("helm") != nil {
		s.Stop.Within = clusterStop
	}
	return s
}

// canonicalServices validates services and formats them without defaults, in starting order.
func canonicalServices(text string) (string, error) {
	services, err := ReadServices(text)
	if err != nil {
		return "", err
	}
	return structure.EncodeItems(texts, services, func(s Service) Service {
		usual := Service{Program: programOf(serviceReadyWithin), Fresh: workload.FreshSession, Stop: stopByDefault}
		if s.inCluster() {
			usual.Stop = Stop{Within: clusterStop}
		}
		return usual
	}).JSON(), nil
}

// proofFile returns the path of the file that is its proof; "": there is none.
func (s *Service) proofFile() string {
	if s.Proof == nil {
		return ""
	}
	return s.Proof.File
}

// stamps reports whether lines of its log need times.
func (s *Service) stamps() bool {
	return slices.ContainsFunc(s.Metrics, func(m Observe) bool { return m.times() })
}

// counts reports whether metrics are read from the service's /metrics.
func (s *Service) counts() bool {
	return slices.ContainsFunc(s.Metrics, func(m Observe) bool { return m.Prometheus != "" })
}

// ReadServices reads the services of a case in starting order: each after those that its after or its texts name.
// Errors are *structure.Error.
func ReadServices(text string) ([]Service, error) {
	v, err := structure.Read(text)
	switch {
	case err != nil:
		return nil, err
	case v.Pairs == nil:
		return nil, fmt.Errorf("it is %s, not a mapping from names of services to their programs", v.What())
	case len(v.Pairs) > maxRoles:
		return nil, fmt.Errorf("%d services are more than %d", len(v.Pairs), maxRoles)
	}
	all, err := structure.DecodeItems(texts, v, service)
	if err != nil {
		return nil, err
	}
	return inOrder(all)
}

// Check validates a service.
func (s *Service) Check(d *structure.Decoder) {
	if s.inCluster() {
		s.checkCluster(d)
	} else {
		s.checkProgram(d)
	}
	if s.counts() && !s.hasURL() {
		d.At("metrics").Fail("prometheus needs /metrics below its url, which it lacks")
	}
	if s.inCluster() && s.sampled().Any() {
		d.At("metrics").Fail("gpu and opens are for a process on a node, but the service is in a cluster: read prometheus of an exporter, as DCGM's")
	}
	for _, name := range s.names() {
		_, _, isService := OfService(name)
		switch _, isRole := Address(name); {
		case isRole || name == LaunchID:
			d.Fail("%s exists only in a launch, which a service outlives", placeholder.Of(name))
		case s.inCluster() && !isService && !option.OfRuns(name):
			d.Fail("%s is for a process on a node, but the service is in a cluster", placeholder.Of(name))
		}
	}
}

func (s *Service) checkProgram(d *structure.Decoder) {
	s.check(d)
	if s.Proof != nil && s.Proof.Pod != "" {
		d.At("proof", "pod").Fail("the service is a program and has no pods")
	}
	if s.Tunnel != nil {
		d.At("tunnel").Fail("a tunnel needs a service in a cluster: give kubernetes or helm")
	}
	if path := s.Ready.HTTP; strings.HasPrefix(path, "/") {
		if s.URL == "" {
			d.At("ready", "http").Fail("%q is a path below its url, which it lacks", path)
		}
		s.Ready.HTTP = strings.TrimSuffix(s.URL, "/") + path
	}
}

// Number is the number of the signal.
func (s Stop) Number() unix.Signal { return unix.SignalNum(string(s.Signal)) }

// names returns the names of a launch in the service's texts.
func (s *Service) names() []string {
	all := s.Program.names()
	for _, text := range append(s.clusterTexts(), s.URL, s.proofFile()) {
		own, _ := placeholder.Names(text) // validated before
		all = append(all, own...)
	}
	return all
}

// inOrder sorts services after the ones they depend on, and otherwise keeps their order.
func inOrder(all []Service) ([]Service, error) {
	index := map[string]int{}
	var names []string
	for i, s := range all {
		index[s.Name] = i
		names = append(names, s.Name)
	}
	known := strings.Join(names, ", ")
	before := func(name string) (others []string) {
		s := &all[index[name]]
		for _, n := range s.names() {
			if other, _, ok := OfService(n); ok && other != s.Name {
				others = append(others, other)
			}
		}
		return append(others, s.After...)
	}
	for _, name := range names {
		for _, other := range before(name) {
			if _, ok := index[other]; !ok {
				return nil, structure.Wrong([]string{name}, "it needs service %q, but the services here are %s",
					other, known)
			}
		}
	}
	var out []Service
	done := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, other := range before(name) {
			add(other)
		}
		out = append(out, all[index[name]])
	}
	for _, name := range names {
		if loop := cycle(name, before); loop != nil {
			return nil, structure.Wrong([]string{name}, "the services wait for each other: %s",
				strings.Join(loop, " after "))
		}
		add(name)
	}
	return out, nil
}

// demands returns the services in the form for an executor.
func demands(services []Service) ([]workload.Service, error) {
	var all []workload.Service
	for _, s := range services {
		serves := Serving{s.URL, s.Stop, s.stamps(), s.proofFile()}
		spec, err := json.Marshal(Spec{Roles: []Role{{s.Program, EndsWhenTold}}, Serves: &serves})
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", s.Name, err)
		}
		needs := slices.Clone(s.After)
		for _, n := range s.names() {
			if other, _, ok := OfService(n); ok && other != s.Name {
				needs = append(needs, other)
			}
		}
		slices.Sort(needs)
		all = append(all, workload.Service{
			Name: s.Name, Node: s.Node, Needs: slices.Compact(needs), Fresh: s.Fresh,
			Runner: Runner, Spec: spec, Ready: s.Ready.Within, Stop: s.Stop.Within, Own: s.Place,
			Observed: len(s.Metrics) > 0 || s.Proof != nil, Counts: s.counts(), Watch: s.watch(), Sampled: s.sampled(),
			Etcd: s.Ready.Etcd != "" || slices.Contains(s.names(), EtcdURL), Cluster: s.cluster(),
			Values: option.NamesOfRuns(s.names()),
		})
	}
	return all, nil
}
