package workload

import (
	"fmt"

	"weir/quantity"
)

// SimFabric is the fabric that moves no bytes: package engine/sim computes what
// a path with the declared properties would have given.
const SimFabric = "sim"

var onlySim = map[string]string{"fabric": SimFabric}

// simulationOptions declare the path that fabric sim pretends to have. Latency,
// bandwidth and jitter are the path's and may differ from case to case; all else
// belongs to the launch.
var simulationOptions = []Option{
	{Name: "sim_latency", Type: Time, Default: quantity.Time(2000), Min: 0, Max: 1e12, For: onlySim,
		Doc: "one way of an empty message; a read needs two"},
	{Name: "sim_bandwidth", Type: Rate, Default: quantity.Rate(10e9), Min: 1, Max: 1e18, For: onlySim,
		Doc: "of the path of one initiator; other initiators do not share it, unless they share its target"},
	{Name: "sim_noise", Type: Percent, Default: quantity.Percent(0.01), Max: 100, For: onlySim, Process: true,
		Doc: "coefficient of variation of a launch's speed (lognormal, median 1)"},
	{Name: "sim_jitter", Type: Percent, Default: quantity.Percent(0.05), Max: 100, For: onlySim,
		Doc: "coefficient of variation of an iteration's time (lognormal, mean 1)"},
	{Name: "sim_stragglers", Type: Percent, Default: quantity.Percent(0), Max: 100, For: onlySim, Process: true,
		Doc: "share of launches that are slower than the others"},
	{Name: "sim_straggler_loss", Type: Percent, Default: quantity.Percent(0.15), Max: 99, For: onlySim, Process: true,
		Doc: "speed that a straggler loses at most; each loses a share between 0 and this, uniformly"},
	{Name: "sim_drift", Type: Percent, Default: quantity.Percent(0), Max: 100, For: onlySim, Process: true,
		Doc: "standard deviation of the step that the speed takes from each simulated launch of the session to the next, of whichever group (random walk)"},
	{Name: "sim_failure", Type: Failures, Default: "", For: onlySim, Process: true,
		Doc: "launches that fail: launch N | P%, then rank R, a phase (ready connect verify run teardown) and a kind (crash timeout lost fault wrong) as wanted; several with a comma; a launch that is named fails at its first attempt only"},
	{Name: "sim_seed", Type: Count, Default: int64(1), Min: 0, For: onlySim, Process: true,
		Doc: "of all that is random; the same plan with the same seed gives the same numbers"},
}

// Simulation is the declared model of a transfer over fabric sim.
type Simulation struct {
	Latency       quantity.Time    `json:"latency"`
	Bandwidth     quantity.Rate    `json:"bandwidth"`
	Noise         quantity.Percent `json:"noise"`
	Jitter        quantity.Percent `json:"jitter"`
	Stragglers    quantity.Percent `json:"stragglers"`
	StragglerLoss quantity.Percent `json:"straggler_loss"`
	Drift         quantity.Percent `json:"drift"`
	Failures      []SimFailure     `json:"failures,omitempty"`
	Seed          int64            `json:"seed"`
}

// decodeSimulation reads the sim_ options; get gives an option's value or default.
func decodeSimulation(get func(string) any, ranks int64) (*Simulation, error) {
	s := &Simulation{}
	var failures string
	var err error
	read := func(name string, ok bool) {
		if !ok && err == nil {
			err = fmt.Errorf("option %s is %T, not a %s", name, get(name), simulationType(name))
		}
	}
	var ok bool
	s.Latency, ok = get("sim_latency").(quantity.Time)
	read("sim_latency", ok)
	s.Bandwidth, ok = get("sim_bandwidth").(quantity.Rate)
	read("sim_bandwidth", ok)
	for name, p := range map[string]*quantity.Percent{
		"sim_noise": &s.Noise, "sim_jitter": &s.Jitter, "sim_stragglers": &s.Stragglers, "sim_straggler_loss": &s.StragglerLoss, "sim_drift": &s.Drift,
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
	if s.Failures, err = ParseFailures(failures); err != nil {
		return nil, fmt.Errorf("option sim_failure: %w", err)
	}
	for _, f := range s.Failures {
		if int64(f.Rank) >= ranks {
			return nil, fmt.Errorf("option sim_failure names rank %d, but there are %d ranks, counted from 0", f.Rank, ranks)
		}
	}
	return s, nil
}

func simulationType(name string) Type {
	o, _ := Transfer.Option(name)
	return o.Type
}
