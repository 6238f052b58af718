package transfer

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

func TestParseSimulationOption(t *testing.T) {
	for _, c := range []struct {
		option, text string
		want         any
		wrong        string
	}{
		{"sim_latency", "3us", quantity.Time(3000), ""},
		{"sim_latency", "0", quantity.Time(0), ""},
		{"sim_latency", "-1us", nil, "below the least sim_latency, which is 0s"},
		{"sim_latency", "1h", nil, "above the largest sim_latency, which is 1000s"},
		{"sim_latency", "3", nil, "has no unit"},
		{"sim_bandwidth", "400 Gbps", quantity.Rate(50e9), ""},
		{"sim_bandwidth", "0", nil, "below the least sim_bandwidth, which is 1B/s"},
		{"sim_bandwidth", "10 GB", nil, "is a size"},
		{"sim_noise", "0.5%", quantity.Percent(0.005), ""},
		{"sim_noise", "100%", quantity.Percent(1), ""},
		{"sim_noise", "101%", nil, "above the largest sim_noise, which is 100%"},
		{"sim_noise", "-1%", nil, "below the least"},
		{"sim_noise", "0.03", nil, "has no unit"},
		{"sim_straggler_loss", "100%", nil, "which is 99%"},
		{"sim_seed", "-1", nil, "below the least"},
		{"sim_failure", "launch 2 rank 1 run", "launch 2 rank 1 run", ""},
		{"sim_failure", "sometimes", nil, "must begin with launch N or P%"},
	} {
		o, ok := Kind.Option(c.option)
		if !ok {
			t.Fatalf("no option %s", c.option)
		}
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%s %q = %#v, %v", c.option, c.text, got, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %q: error %v, want %q", c.option, c.text, err, c.wrong)
		}
	}
}

// Options survive a plan file.
func TestSimulationOptionsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := option.Values{
			"fabric":        fabric.SimName,
			"sim_latency":   quantity.Time(rapid.Int64Range(0, 1e12).Draw(t, "latency")),
			"sim_bandwidth": quantity.Rate(quantity.Round(rapid.Float64Range(1, 1e18).Draw(t, "bandwidth"))),
			"sim_noise":     quantity.Percent(quantity.Round(rapid.Float64Range(0, 1).Draw(t, "noise"))),
			"sim_failure": rapid.SampledFrom([]string{"", "10% connect", "launch 0 rank 1 ready crash, 2.5%"}).Draw(t,
				"failure"),
		}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var raw map[string]any
		if err := json.Unmarshal(b, &raw); err != nil {
			t.Fatal(err)
		}
		out, err := Kind.Normalize(raw)
		if err != nil {
			t.Fatal(err)
		}
		for name := range in {
			if out[name] != in[name] {
				t.Fatalf("%s came back as %#v, was %#v", name, out[name], in[name])
			}
		}
	})
}

// Options of the model exist for fabric sim only.
func TestOptionsThatExistForOneFabric(t *testing.T) {
	o, _ := Kind.Option("sim_noise")
	all := option.Values{"fabric": "shm", "block_size": quantity.Size(8), "sim_noise": quantity.Percent(0.03)}
	if Kind.Applies(o, all) || Kind.Applies(o, option.Values{}) {
		t.Error("sim_noise exists without fabric sim")
	}
	if _, there := Kind.Applicable(all)["sim_noise"]; there {
		t.Error("sim_noise stays with fabric shm")
	}
	all["fabric"] = fabric.SimName
	if got := Kind.Applicable(all); len(got) != 3 || !Kind.Applies(o, all) {
		t.Errorf("of a simulated case only %v is left", got)
	}
	if block, _ := Kind.Option("block_size"); !Kind.Applies(block, option.Values{"fabric": "shm"}) {
		t.Error("block_size does not exist")
	}
}

func TestDecodeSimulation(t *testing.T) {
	v := option.Values{"fabric": fabric.SimName, "block_size": quantity.Size(8)}
	o, err := Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.Simulation{Latency: 2000, Bandwidth: 10e9, Noise: 0.01, Jitter: 0.05, StragglerLoss: 0.15, Seed: 1}
	if o.Sim == nil || o.Sim.Failures != nil {
		t.Fatalf("the model is %+v", o.Sim)
	}
	if s := *o.Sim; s.Latency != want.Latency || s.Bandwidth != want.Bandwidth || s.Noise != want.Noise ||
		s.Jitter != want.Jitter ||
		s.Stragglers != 0 || s.StragglerLoss != want.StragglerLoss || s.Drift != 0 || s.Seed != want.Seed {
		t.Errorf("the defaults are %+v", s)
	}
	if o, err := Decode(option.Values{"fabric": "shm", "block_size": quantity.Size(8)}); err != nil || o.Sim != nil {
		t.Errorf("fabric shm has the model %+v, %v", o.Sim, err)
	}
	for want, change := range map[string]option.Values{
		"names rank 2, but there are 2 ranks":        {"sim_failure": "5% rank 2"},
		"option sim_noise is float64, not a percent": {"sim_noise": 0.03},
		"option sim_latency is string, not a time":   {"sim_latency": "2us"},
		`option sim_failure: "x": it must begin wi`:  {"sim_failure": "x"},
	} {
		bad := option.Values{"fabric": fabric.SimName, "block_size": quantity.Size(8)}
		for name, value := range change {
			bad[name] = value
		}
		if _, err := Decode(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
}
