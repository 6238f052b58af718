package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/workload"
)

// Used are the services of launches, of any workload with ServicesOption.
type Used struct {
	Demands   []workload.Service
	all       []Service
	observing []Service // with metrics or a proof
}

// Use reads the value of ServicesOption.
func Use(text string) (u Used, err error) {
	if u.all, err = ReadServices(text); err != nil {
		return u, err
	}
	for _, s := range u.all {
		if len(s.Metrics) > 0 || s.Proof != nil {
			u.observing = append(u.observing, s)
		}
	}
	u.Demands, err = demands(u.all)
	return u, err
}

// CheckURL says why there is no name service.NAME.url.
func (u Used) CheckURL(name string) error {
	i := slices.IndexFunc(u.all, func(s Service) bool { return s.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("the run lacks service %s: declare it in services beside runs, or name it in services of the run",
			name)
	case !u.all[i].hasURL():
		return fmt.Errorf("service %s has no url", name)
	}
	return nil
}

// URLName is the name of a service's url in texts.
func URLName(service string) string { return servicePrefix + service + ".url" }

// Metrics adds the metrics of the services, which must have unique names.
func (u Used) Metrics(others []workload.Metric) (all []workload.Metric, err error) {
	for _, s := range u.observing {
		for _, m := range s.Metrics {
			if slices.ContainsFunc(slices.Concat(others, all),
				func(o workload.Metric) bool { return o.Name == m.Name }) {
				return all, fmt.Errorf("metric %s of service %s has the name of another: rename it", m.Name, s.Name)
			}
			all = append(all, m.metric())
		}
	}
	return all, nil
}

// Observe adds the metrics of services to those of a launch, and checks their proofs. Without its line in the log
// a launch lacks a metric.
func (u Used) Observe(seen map[string]workload.Observation, values map[string]float64) error {
	for _, service := range u.observing {
		o, ok := seen[service.Name]
		if !ok {
			return fmt.Errorf("service %s was not observed", service.Name)
		}
		if err := service.watch().Check(o.Matches); err != nil {
			return fmt.Errorf("service %s: %w", service.Name, err)
		}
		if err := service.observe(o, values); err != nil {
			return err
		}
	}
	return nil
}

// watch returns the patterns to find in the log of a service: its proof, and then its metrics in order.
func (s *Service) watch() logwatch.Spec {
	w := logwatch.Spec{Stamped: s.stamps()}
	if p := s.Proof; p != nil && p.Log != "" {
		w.Expressions = append(w.Expressions, logwatch.Expression{Text: p.Log, Pod: p.Pod})
	}
	for _, m := range s.Metrics {
		if m.Log != "" {
			w.Expressions = append(w.Expressions, logwatch.Expression{Text: m.Log})
		}
	}
	return w
}

// observe is Observe for one service.
func (s *Service) observe(o workload.Observation, values map[string]float64) error {
	left := o.Matches
	next := func(isLog bool) (m logwatch.Match) {
		if isLog {
			m, left = left[0], left[1:]
		}
		return m
	}
	if p := s.Proof; p != nil {
		if err := p.check(next(p.Log != ""), o); err != nil {
			return fmt.Errorf("service %s: %w", s.Name, err)
		}
	}
	for _, m := range s.Metrics {
		line := next(m.Log != "")
		if m.absent(line) {
			continue
		}
		v, err := m.read(line, s.sampled().Opens, o)
		if err != nil {
			return fmt.Errorf("metric %s of service %s: %w", m.Name, s.Name, err)
		}
		values[m.Name] = v
	}
	return nil
}

// sampled returns what is sampled for the metrics of a service.
func (s *Service) sampled() (all workload.Sampled) {
	for _, m := range s.Metrics {
		all.GPUMemory = all.GPUMemory || m.GPU != ""
		if m.Opens != "" && !slices.Contains(all.Opens, m.Opens) {
			all.Opens = append(all.Opens, m.Opens)
		}
	}
	return all
}

// opened returns the number of files of a pattern, by its index among those that are sampled.
func opened(of workload.Samples, index int) (float64, error) {
	switch {
	case of.NotOpened != "":
		return 0, errors.New(of.NotOpened)
	case index >= len(of.Opened):
		return 0, errors.New("its open files were not looked at")
	}
	return float64(of.Opened[index]), nil
}
