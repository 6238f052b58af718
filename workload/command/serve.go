package command

import (
	"errors"
	"slices"

	"weir/workload"
)

// Serve lets launches of a workload use services that its own options do not mention: programs
// that run around its ranks. A workload with ServicesOption of its own is left as it is.
func Serve(k *workload.Kind) {
	k.OverLaunch = countedByServices
	if _, own := k.Option(ServicesOption.Name); own {
		return
	}
	option := ServicesOption
	// Without a default, cases without services are those that they were.
	option.Default, option.Absent = nil, true
	option.Doc = "services of the scenario that run during its launches; the key services of a run, and not an option, names them"
	k.Options = append(slices.Clone(k.Options), option)
	check := k.Check
	k.Checked = append(slices.Clone(k.Checked), option.Name)
	k.Check = func(v workload.Values) error {
		if check != nil {
			if err := check(v); err != nil {
				return err
			}
		}
		if used, err := usedBy(v); err != nil || len(used.all) == 0 {
			return err
		}
		if k.Simulated != nil && k.Simulated(k.Get(v)) {
			return errors.New("the case runs in virtual time, and services are programs, which do not: leave services out, or choose a fabric that moves bytes")
		}
		return nil
	}
	measures := k.Measures
	if measures == nil {
		k.MeasuredBy = option.Name
	}
	k.Measures = func(v workload.Values, declared []workload.Metric) ([]workload.Metric, error) {
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
			return nil, err // the workload's own
		}
		return slices.Concat(before, more), err
	}
	k.Beside = func(v workload.Values) ([]workload.Service, error) {
		used, err := usedBy(v)
		return used.Demands, err
	}
	k.Observe = func(v workload.Values, seen map[string]workload.Observation, metrics map[string]float64) error {
		used, err := usedBy(v)
		if err != nil {
			return err
		}
		return used.Observe(seen, metrics)
	}
}

// countedByServices are the metrics that are read of the services of a case, between the start and the end of a
// launch.
func countedByServices(v workload.Values) (names []string) {
	used, err := usedBy(v)
	if err != nil {
		return nil // which the check of options reports
	}
	for _, s := range used.observing {
		for _, m := range s.Metrics {
			names = append(names, m.Metric.Name)
		}
	}
	return names
}

// doubtful says of a metric of a service that all rows of an output have it together.
func doubtful(v workload.Values, metric string) string {
	text, _ := v["parse"].(string)
	if p, err := readParse(text); err != nil || p.Rows == "" || !slices.Contains(countedByServices(v), metric) {
		return ""
	}
	return "it is counted over a whole launch, whose output has the rows of all cases of the launch: it is the same in each of them"
}

// usedBy are the services of a case; none where it has no option of them.
func usedBy(v workload.Values) (Used, error) {
	text, given := v[ServicesOption.Name].(string)
	if !given {
		return Used{}, nil
	}
	return Use(text)
}
