package fabric

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

//go:embed sim.md
var simDocs string

// SimName is the fabric that moves no bytes: package engine/sim computes the result of a path with the declared
// properties.
const SimName = "sim"

var sim = Fabric{
	Name: SimName, Simulated: true, Transports: []string{SimName},
	Docs: simDocs, Options: simOptions, Checked: []string{"sim_failure"},
	PostsNothing: func(Needs) string { return "posting takes no time in the model of fabric sim" },
	NoMatrix:     "has no model of a matrix yet: use a fabric that moves bytes, or workload transfer",
}

// simOptions declare the simulated path. Latency, bandwidth and jitter may differ between the cases of a launch; all
// others hold for the launch.
var simOptions = []option.Option{
	{Name: "sim_latency", Type: option.Time, Default: quantity.Time(2000), Min: 0, Max: 1e12},
	{Name: "sim_bandwidth", Type: option.Rate, Default: quantity.Rate(10e9), Min: 1, Max: 1e18},
	{Name: "sim_noise", Type: option.Percent, Default: quantity.Percent(0.01), Max: 100, Process: true},
	{Name: "sim_jitter", Type: option.Percent, Default: quantity.Percent(0.05), Max: 100},
	{Name: "sim_stragglers", Type: option.Percent, Default: quantity.Percent(0), Max: 100, Process: true},
	{Name: "sim_straggler_loss", Type: option.Percent, Default: quantity.Percent(0.15), Max: 99, Process: true},
	{Name: "sim_drift", Type: option.Percent, Default: quantity.Percent(0), Max: 100, Process: true},
	{Name: "sim_failure", Type: option.Failures, Default: "", Process: true},
	{Name: "sim_seed", Type: option.Count, Default: int64(1), Min: 0, Process: true},
}

// Simulation is the declared model of a path.
type Simulation struct {
	Latency       quantity.Time       `json:"latency"`
	Bandwidth     quantity.Rate       `json:"bandwidth"`
	Noise         quantity.Percent    `json:"noise"`
	Jitter        quantity.Percent    `json:"jitter"`
	Stragglers    quantity.Percent    `json:"stragglers"`
	StragglerLoss quantity.Percent    `json:"straggler_loss"`
	Drift         quantity.Percent    `json:"drift"`
	Failures      []option.SimFailure `json:"failures,omitempty"`
	Seed          int64               `json:"seed"`
}

// ReadSimulation reads the sim_ options of a case with this many ranks.
func ReadSimulation(get option.Getter, ranks int64) (*Simulation, error) {
	s := &Simulation{}
	var failures string
	var err error
	read := func(name string, ok bool) {
		if !ok && err == nil {
			i := slices.IndexFunc(simOptions, func(o option.Option) bool { return o.Name == name })
			err = wrongType(simOptions[i], get(name))
		}
	}
	var ok bool
	s.Latency, ok = get("sim_latency").(quantity.Time)
	read("sim_latency", ok)
	s.Bandwidth, ok = get("sim_bandwidth").(quantity.Rate)
	read("sim_bandwidth", ok)
	for name, p := range map[string]*quantity.Percent{
		"sim_noise": &s.Noise, "sim_jitter": &s.Jitter, "sim_stragglers": &s.Stragglers,
		"sim_straggler_loss": &s.StragglerLoss, "sim_drift": &s.Drift,
	} {
		*p, ok = get(name).(quantity.Percent)
		read(name, ok)
	}
	s.Seed, ok = get("sim_seed").(int64)
	read("sim_seed", ok)
	failures, ok = get("sim_failure").(string)
	read("sim_failure", ok)
	if err != nil {
		return nil, err
	}
	if s.Failures, err = option.ParseFailures(failures); err != nil {
		return nil, fmt.Errorf("option sim_failure: %w", err)
	}
	for _, f := range s.Failures {
		if int64(f.Rank) >= ranks {
			return nil, fmt.Errorf("option sim_failure names rank %d, but there are %d ranks, counted from 0", f.Rank,
				ranks)
		}
	}
	return s, nil
}
