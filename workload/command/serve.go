package command

import (
	"errors"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// Serve adds ServicesOption to a workload, so that its launches can use services. Workloads that have it are unchanged.
func Serve(k *workload.Kind) {
	k.Services = &workload.Services{OverLaunch: countedByServices}
	if _, own := k.Option(ServicesOption.Name); own {
		return
	}
	opt := ServicesOption
	// Without a default, cases without services keep their options.
	opt.Default, opt.Absent = nil, true
	opt.Doc = "services of the scenario that run during launches; set by the key services of a run, not as an option"
	k.Options = append(slices.Clone(k.Options), opt)
	check := k.Check
	k.Checked = append(slices.Clone(k.Checked), opt.Name)
	k.Check = func(v option.Values) error {
		if check != nil {
			if err := check(v); err != nil {
				return err
			}
		}
		if used, err := usedBy(v); err != nil || len(used.all) == 0 {
			return err
		}
		if s, ok := k.Behaviour.(workload.Simulator); ok && s.Simulated(k.Get(v)) {
			return errors.New("the case runs in virtual time, but services do not: leave services out, or use a fabric that moves bytes")
		}
		return nil
	}
	measures := k.Measures
	if measures == nil {
		k.MeasuredBy = opt.Name
	}
	k.Measures = func(v option.Values, declared []workload.Metric) ([]workload.Metric, error) {
		before := slices.Concat(k.Metrics, declared)
		if measures != nil {
			own, err := measures(v, declared)
			if err != nil {
				return own, err
			}
			if own != nil {
				before = own
			}
		}
		used, err := usedBy(v)
		if err != nil {
			return nil, err
		}
		more, err := used.Metrics(before)
		if len(more) == 0 && measures == nil {
			return nil, err // only the workload's own metrics
		}
		return slices.Concat(before, more), err
	}
	k.Services.Beside = func(v option.Values) ([]workload.Service, error) {
		used, err := usedBy(v)
		return used.Demands, err
	}
	k.Services.Observe = func(v option.Values, seen map[string]workload.Observation,
		metrics map[string]float64) error {
		used, err := usedBy(v)
		if err != nil {
			return err
		}
		return used.Observe(seen, metrics)
	}
}

// countedByServices returns the metrics of a case's services that are counted between the start and the end of a
// launch.
func countedByServices(v option.Values) (names []string) {
	used, err := usedBy(v)
	if err != nil {
		return nil // the check of options reports it
	}
	for _, s := range used.observing {
		for _, m := range s.Metrics {
			names = append(names, m.Name)
		}
	}
	return names
}

// Doubtful says that all rows of an output share a service's metric.
func (behaviour) Doubtful(v option.Values, metric string) string {
	text, _ := v["parse"].(string)
	if p, err := readParse(text); err != nil || p.Rows == "" || !slices.Contains(countedByServices(v), metric) {
		return ""
	}
	return "it is counted over a whole launch with the rows of several cases, so all of them have the same value"
}

// usedBy returns the services of a case; none if the workload has no option for them.
func usedBy(v option.Values) (Used, error) {
	text, given := v[ServicesOption.Name].(string)
	if !given {
		return Used{}, nil
	}
	return Use(text)
}
