package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"weir/placeholder"
	"weir/quantity"
	"weir/workload"
)

// Service is a program that runs longer than a launch. Its role ends when it is told to.
type Service struct {
	Role
	URL   string         `json:"url,omitempty"` // a text of package placeholder
	Fresh workload.Fresh `json:"fresh"`
	Stop  Stop           `json:"stop"`
	// Metrics and Proof are read of each launch that uses the service.
	Metrics []Observe `json:"metrics,omitempty"`
	Proof   *Proof    `json:"proof,omitempty"`
	// Cluster is that of a service which is no program of a node but objects in a Kubernetes
	// cluster.
	Cluster *workload.InCluster `json:"cluster,omitempty"`
}

// Stop says how a service is told to end.
type Stop struct {
	Signal string        `json:"signal"`    // as SIGTERM
	Within time.Duration `json:"within_ns"` // until SIGKILL
}

var stopByDefault = Stop{Signal: "SIGTERM", Within: 5 * time.Second}

// stopSignals are what a program can be told to end with. Its rank ignores them.
var stopSignals = []string{"SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"}

// serviceReadyWithin is longer than readyWithin: a server may load a model first.
const serviceReadyWithin = 10 * time.Minute

// mostStop bounds Stop.Within: a session that ends waits for it.
const mostStop = 10 * time.Minute

const nothingServed = "{}"

// ServicesOption is the option of workloads whose programs use services.
var ServicesOption = workload.Option{
	Name: "services", Type: workload.Structure, Default: nothingServed, Process: true, Late: serviceLate,
	Read: canonicalServices,
}

// canonicalServices checks services and writes them without what are defaults, in the
// order in which they start.
func canonicalServices(text string) (string, error) {
	services, err := ReadServices(text)
	if err != nil {
		return "", err
	}
	var all writer
	for _, s := range services {
		all.put(s.Name, s.structured())
	}
	return all.mapping().JSON(), nil
}

func (s *Service) structured() *workload.Structured {
	role := s.Role
	role.Ends = EndsByItself // which is not written
	w := writer{role.structured(serviceReadyWithin).Pairs}
	byDefault := stopByDefault
	if s.Cluster != nil {
		s.putCluster(&w)
		byDefault.Within = clusterStop
	}
	w.text("url", s.URL)
	if s.Fresh != workload.FreshSession {
		w.text("fresh", string(s.Fresh))
	}
	if s.Stop != byDefault {
		var stop writer
		if s.Cluster == nil {
			stop.text("signal", s.Stop.Signal)
		}
		stop.text("within", quantity.Time(s.Stop.Within).String())
		w.put("stop", stop.mapping())
	}
	var metrics writer
	for _, m := range s.Metrics {
		metrics.put(m.Metric.Name, m.structured())
	}
	if len(metrics.pairs) > 0 {
		w.put("metrics", metrics.mapping())
	}
	if s.Proof != nil {
		var proof writer
		proof.text("pod", placeholder.Quote(s.Proof.Pod))
		proof.text("log", placeholder.Quote(s.Proof.Log))
		proof.text("file", s.Proof.File)
		w.put("proof", proof.mapping())
	}
	return w.mapping()
}

func (m *Observe) structured() *workload.Structured {
	var w writer
	w.text("log", placeholder.Quote(m.Log))
	for _, way := range []struct {
		key string
		is  bool
	}{{"count", m.Count}, {"first", m.First}, {"last", m.Last}} {
		if way.is {
			w.text(way.key, "true")
		}
	}
	w.text("prometheus", placeholder.Quote(m.Name))
	if m.Difference {
		w.text("difference", "true")
	}
	w.text("unit", placeholder.Quote(m.Metric.Unit))
	w.text("better", string(m.Metric.Better))
	w.text("doc", placeholder.Quote(m.Metric.Doc))
	return w.mapping()
}

// proofFile is the path of the file that is its proof; "": there is none.
func (s *Service) proofFile() string {
	if s.Proof == nil {
		return ""
	}
	return s.Proof.File
}

// stamps says whether lines of its log are to have times.
func (s *Service) stamps() bool {
	return slices.ContainsFunc(s.Metrics, func(m Observe) bool { return m.times() })
}

// counts says whether metrics are read from what the service counts.
func (s *Service) counts() bool {
	return slices.ContainsFunc(s.Metrics, func(m Observe) bool { return m.Name != "" })
}

// ReadServices reads the services of a case, in the order in which they start: each behind
// those that it comes after or names. What is wrong is a *workload.StructureError.
func ReadServices(text string) ([]Service, error) {
	s, err := workload.ReadStructure(text)
	switch {
	case err != nil:
		return nil, err
	case s.Pairs == nil:
		return nil, fmt.Errorf("it is %s, not a mapping from names of services to their programs", s.What())
	case len(s.Pairs) > mostRoles:
		return nil, fmt.Errorf("%d services are more than %d", len(s.Pairs), mostRoles)
	}
	var all []Service
	for _, p := range s.Pairs {
		service, err := readService(p)
		if err != nil {
			return nil, err
		}
		all = append(all, service)
	}
	return inOrder(all)
}

func readService(p workload.Pair) (Service, error) {
	if isInCluster(p.Value) {
		return readInCluster(p)
	}
	role, f, err := readRole(p, serviceReadyWithin, "url", "fresh", "stop", "metrics", "proof")
	if err != nil {
		return Service{}, err
	}
	s := Service{Role: role, URL: f.late("url"), Stop: stopByDefault}
	s.Ends = EndsWhenTold
	if stop := f.get("stop"); stop != nil && f.err == nil {
		s.Stop, f.err = readStop(stop, []string{s.Name, "stop"})
	}
	s.readCommon(f)
	if s.Proof != nil && s.Proof.Pod != "" {
		f.fail([]string{"proof", "pod"}, "the service is a program and has no pods")
	}
	return s, f.err
}

// readCommon reads what services of all kinds have.
func (s *Service) readCommon(f *fields) {
	s.Fresh = workload.Fresh(f.text("fresh"))
	if s.Fresh == "" {
		s.Fresh = workload.FreshSession
	}
	if !slices.Contains(workload.AllFresh, s.Fresh) {
		f.fail([]string{"fresh"}, "%q is none of session, run, variant and launch", s.Fresh)
	}
	if f.err == nil {
		s.Metrics, f.err = readObserves(f.get("metrics"), []string{s.Name, "metrics"})
	}
	if f.err == nil {
		s.Proof, f.err = readProof(f.get("proof"), []string{s.Name, "proof"})
	}
	if s.proofFile() != "" && s.Cluster != nil {
		f.fail([]string{"proof", "file"}, "files of pods are not seen: let the program print a line, and prove that by log")
	}
	if s.counts() && !s.hasURL() {
		f.fail([]string{"metrics"}, "what it counts is at /metrics below its url, which it has not")
	}
	switch path := s.Ready.HTTP; {
	case s.Cluster != nil || !strings.HasPrefix(path, "/"): // incluster knows the url of a tunnel
	case s.URL == "":
		f.fail([]string{"ready", "http"}, "%q is a path below its url, which it has not", path)
	default:
		s.Ready.HTTP = strings.TrimSuffix(s.URL, "/") + path
	}
	for _, name := range s.names() {
		if _, isRole := Address(name); isRole || name == LaunchID {
			f.fail(nil, "%s is of a launch, and a service outlives it", placeholder.Of(name))
		}
	}
	s.checkClusterNames(f)
}

func readStop(s *workload.Structured, path []string) (Stop, error) {
	f := mapping(s, path, "signal", "within")
	if f.err != nil {
		return Stop{}, f.err
	}
	out := Stop{Signal: stopByDefault.Signal, Within: f.duration("within", stopByDefault.Within)}
	if text := f.text("signal"); text != "" {
		out.Signal = "SIG" + strings.TrimPrefix(strings.ToUpper(text), "SIG")
	}
	switch {
	case !slices.Contains(stopSignals, out.Signal):
		f.fail([]string{"signal"}, "%q is none of %s", out.Signal, strings.Join(stopSignals, ", "))
	case out.Within > mostStop:
		f.fail([]string{"within"}, "%v is more than %v", out.Within, mostStop)
	}
	return out, f.err
}

// Number is the number of the signal.
func (s Stop) Number() unix.Signal { return unix.SignalNum(s.Signal) }

// names are those of a launch in the service's texts.
func (s *Service) names() []string {
	all := s.Role.names()
	for _, text := range append(s.clusterTexts(), s.URL, s.proofFile()) {
		own, _ := placeholder.Names(text) // which was read before
		all = append(all, own...)
	}
	return all
}

// inOrder sorts services by what they come after, and otherwise leaves their order.
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
				return nil, workload.Wrong([]string{name}, "there is no service %q for it; there are %s", other, known)
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
			return nil, workload.Wrong([]string{name}, "the services wait for each other: %s",
				strings.Join(loop, " after "))
		}
		add(name)
	}
	return out, nil
}

// demands are the services as an executor starts them.
func demands(services []Service) ([]workload.Service, error) {
	var all []workload.Service
	for _, s := range services {
		serves := Serving{s.URL, s.Stop, s.stamps(), s.proofFile()}
		spec, err := json.Marshal(Spec{Roles: []Role{s.Role}, Serves: &serves})
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
			Observed: len(s.Metrics) > 0 || s.Proof != nil, Counts: s.counts(), Watch: s.watch(),
			Etcd: s.Ready.Etcd != "" || slices.Contains(s.names(), EtcdURL), Cluster: s.inCluster(),
			Values: workload.NamesOfRuns(s.names()),
		})
	}
	return all, nil
}
