package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/quantity"
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
		{"sim_failure", "sometimes", nil, "does not begin with launch N or P%"},
	} {
		o, ok := Transfer.Option(c.option)
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

// What was set survives a plan file, whatever it was.
func TestSimulationOptionsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Values{
			"fabric":        SimFabric,
			"sim_latency":   quantity.Time(rapid.Int64Range(0, 1e12).Draw(t, "latency")),
			"sim_bandwidth": quantity.Rate(quantity.Round(rapid.Float64Range(1, 1e18).Draw(t, "bandwidth"))),
			"sim_noise":     quantity.Percent(quantity.Round(rapid.Float64Range(0, 1).Draw(t, "noise"))),
			"sim_failure":   rapid.SampledFrom([]string{"", "10% connect", "launch 0 rank 1 ready crash, 2.5%"}).Draw(t, "failure"),
		}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var raw map[string]any
		if err := json.Unmarshal(b, &raw); err != nil {
			t.Fatal(err)
		}
		out, err := Transfer.Normalize(raw)
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

func TestParseFailures(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []SimFailure
		wrong string
	}{
		{"", nil, ""},
		{"launch 2 rank 1 run", []SimFailure{{Launch: 2, Rank: 1, Phase: "run"}}, ""},
		{"10% connect", []SimFailure{{Launch: -1, Share: 0.1, Rank: -1, Phase: "connect"}}, ""},
		{"launch 0", []SimFailure{{Launch: 0, Rank: -1, Phase: "run"}}, ""},
		{"1% run crash,  launch 3 lost", []SimFailure{{Launch: -1, Share: 0.01, Rank: -1, Phase: "run", Kind: "crash"}, {Launch: 3, Rank: -1, Phase: "run", Kind: "lost"}}, ""},
		{"launch", nil, "launch has no number"},
		{"launch two", nil, `launch "two" is not a whole number`},
		{"launch -1", nil, "not a whole number"},
		{"launch 1 rank", nil, "rank has no number"},
		{"launch 1 rank 1 rank 2", nil, `"rank" is out of place`},
		{"launch 1 run connect", nil, `"connect" is out of place`},
		{"launch 1 walk", nil, `"walk" is out of place`},
		{"0% run", nil, "not above 0%"},
		{"120% run", nil, "at most 100%"},
		{"rank 1 run", nil, "does not begin with"},
		{"5%,", nil, "nothing between the commas"},
	} {
		got, err := ParseFailures(c.text)
		if c.wrong == "" {
			same := len(got) == len(c.want)
			for i := range c.want {
				same = same && got[i] == c.want[i]
			}
			if err != nil || !same {
				t.Errorf("%q reads as %+v, %v", c.text, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

func FuzzParseFailures(f *testing.F) {
	f.Add("launch 2 rank 1 run, 10% connect crash")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseFailures(text)
		if err != nil {
			return
		}
		for _, x := range all {
			if x.Launch < -1 || x.Rank < -1 || x.Launch < 0 && !(x.Share > 0 && x.Share <= 1) || x.Phase == "" {
				t.Errorf("%q reads as %+v", text, x)
			}
		}
	})
}

// Options of the model exist for fabric sim and for nothing else.
func TestOptionsThatExistForOneFabric(t *testing.T) {
	o, _ := Transfer.Option("sim_noise")
	all := Values{"fabric": "shm", "block_size": quantity.Size(8), "sim_noise": quantity.Percent(0.03)}
	if Transfer.Applies(o, all) || Transfer.Applies(o, Values{}) {
		t.Error("sim_noise exists without fabric sim")
	}
	if _, there := Transfer.Applicable(all)["sim_noise"]; there {
		t.Error("sim_noise stays with fabric shm")
	}
	all["fabric"] = SimFabric
	if got := Transfer.Applicable(all); len(got) != 3 || !Transfer.Applies(o, all) {
		t.Errorf("of a simulated case only %v is left", got)
	}
	if block, _ := Transfer.Option("block_size"); !Transfer.Applies(block, Values{"fabric": "shm"}) {
		t.Error("block_size does not exist")
	}
}

func TestDecodeSimulation(t *testing.T) {
	v := Values{"fabric": SimFabric, "block_size": quantity.Size(8)}
	o, err := DecodeTransfer(v)
	if err != nil {
		t.Fatal(err)
	}
	want := Simulation{Latency: 2000, Bandwidth: 10e9, Noise: 0.01, Jitter: 0.05, StragglerLoss: 0.15, Seed: 1}
	if o.Sim == nil || o.Sim.Failures != nil {
		t.Fatalf("the model is %+v", o.Sim)
	}
	if s := *o.Sim; s.Latency != want.Latency || s.Bandwidth != want.Bandwidth || s.Noise != want.Noise || s.Jitter != want.Jitter ||
		s.Stragglers != 0 || s.StragglerLoss != want.StragglerLoss || s.Drift != 0 || s.Seed != want.Seed {
		t.Errorf("the defaults are %+v", s)
	}
	if o, err := DecodeTransfer(Values{"fabric": "shm", "block_size": quantity.Size(8)}); err != nil || o.Sim != nil {
		t.Errorf("fabric shm has the model %+v, %v", o.Sim, err)
	}
	for want, change := range map[string]Values{
		"names rank 2, but there are 2 ranks":           {"sim_failure": "5% rank 2"},
		"option sim_noise is float64, not a percent":    {"sim_noise": 0.03},
		"option sim_latency is string, not a time":      {"sim_latency": "2us"},
		`option sim_failure: "x": it does not begin wi`: {"sim_failure": "x"},
	} {
		bad := Values{"fabric": SimFabric, "block_size": quantity.Size(8)}
		for name, value := range change {
			bad[name] = value
		}
		if _, err := DecodeTransfer(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
}
