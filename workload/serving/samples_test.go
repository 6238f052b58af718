package serving

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
)

// drawRecord draws a record as a client makes it.
func drawRecord(t *rapid.T, index int) load.Record {
	at := func(label string) int64 {
		if rapid.IntRange(0, 4).Draw(t, label+" came") == 0 {
			return load.Never
		}
		return rapid.Int64Range(0, 1e12).Draw(t, label)
	}
	number := func(label string) int { return rapid.IntRange(-1, 1e6).Draw(t, label) }
	r := load.Record{
		Index: index, Phase: load.Phase(rapid.IntRange(0, 2).Draw(t, "phase")), Session: index, Turn: number("turn"),
		Outcome: load.Outcome(rapid.IntRange(0, 8).Draw(t, "outcome")), Status: 200,
		Reused: rapid.Bool().Draw(t, "reused"), Due: at("due"), Slot: at("slot"), Start: at("start"),
		Connected: at("connected"), Sent: at("sent"), Headers: at("headers"), First: at("first"),
		FirstContent: at("content"), Last: at("last"), Done: at("done"), Input: number("input"),
		Output: number("output"), Cached: number("cached"), Source: load.ByUsage, Events: []load.Event{},
	}
	for range rapid.IntRange(0, 5).Draw(t, "events") {
		r.Events = append(r.Events, load.Event{At: at("event"), Tokens: int32(number("tokens")),
			Coalesced: rapid.Bool().Draw(t, "coalesced")})
		if r.Events[len(r.Events)-1].At == load.Never {
			r.Events[len(r.Events)-1].At = 0
		}
	}
	return r
}

// Samples of several clients contain their records, for any values.
func TestSamplesHoldRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []load.Record
		var files [][]byte
		for rank := range rapid.IntRange(1, 3).Draw(t, "clients") {
			var own []load.Record
			for i := range rapid.IntRange(0, 4).Draw(t, "requests") {
				own = append(own, drawRecord(t, 10*rank+i))
			}
			p, err := Encode("case", 1, rank, &Facts{}, own)
			if err != nil {
				t.Fatal(err)
			}
			want, files = append(want, own...), append(files, p.Samples)
		}
		got, err := Records(files)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
	})
}

func TestDamagedSamplesAreRefused(t *testing.T) {
	p, err := Encode("case", 0, 0, &Facts{}, []load.Record{{Events: []load.Event{{At: 5}}}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Samples {
		if _, err := Records([][]byte{p.Samples[:n]}); err == nil {
			t.Fatalf("the first %d bytes were read", n)
		}
	}
	other := results.NewRecords("index")
	other.Add(1)
	part, err := (&partOf{other}).encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Records([][]byte{part}); err == nil {
		t.Error("records without times were read")
	}
}

// Metrics recomputed from samples equal those of the launch.
func TestRecomputeEqualsReduce(t *testing.T) {
	options := map[string]any{
		"url": "http://a", "model": "m", "requests": "20", "slo": `{"ttft":"1s"}`, "gpus": "2",
	}
	v, err := Kind.Normalize(options)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	var records []load.Record
	for i := range 20 {
		at := int64(i) * 1e8
		r := load.Record{
			Index: i, Phase: load.Measured, Status: 200, Due: load.Never, Slot: at, Start: at, Connected: at,
			Sent: at, Headers: at, First: at + 5e6, FirstContent: at + 5e6, Last: at + 9e7, Done: at + 9e7,
			Input: 10, Output: 3, Cached: load.Unknown, Source: load.ByUsage,
		}
		if i == 19 {
			r.Outcome = load.Truncated
		}
		records = append(records, r)
	}
	p, err := Encode("case", 0, 0, &Facts{CPU: 0.2, Lateness: []float64{1e-4, 2e-4}, Floor: 1e-4, Ready: 1}, records)
	if err != nil {
		t.Fatal(err)
	}
	l := &results.Launch{}
	got, err := behaviour{}.Reduce(&workload.Measured{Spec: spec, Parts: []*workload.Part{p}}, l)
	if err != nil {
		t.Fatal(err)
	}
	again, err := behaviour{}.Recompute(options, [][]byte{p.Samples})
	if err != nil {
		t.Fatal(err)
	}
	if got["ttft.p50"] != 0.005 || got["error_rate"] != 0.05 || got["ttft.p99"] != results.Unbounded || !l.Verified ||
		got["client.cpu"] != 0.2 || got["client.lateness.p99"] != 2e-4 {
		t.Errorf("%v", got)
	}
	for name, value := range again {
		if got[name] != value {
			t.Errorf("%s is %v, and was %v", name, value, got[name])
		}
	}
	for name := range got {
		if _, known := Kind.Metric(name); !known {
			t.Errorf("%s is no metric", name)
		}
	}
}

type partOf struct{ *results.Records }

func (p *partOf) encode() ([]byte, error) {
	var b bytes.Buffer
	err := p.Write(&b)
	return b.Bytes(), err
}

// If every request fails the throughput is 0, a valid result.
func TestThroughputMayBeZero(t *testing.T) {
	for _, name := range []string{
		"request_rate", "output_throughput", "output_throughput.per_gpu", "total_throughput",
		"goodput", "goodput.tokens", "speed.per_user.p50", "stall.max",
	} {
		if m, _ := Kind.Metric(name); !m.MayBeZero {
			t.Errorf("%s may not be zero", name)
		}
	}
}
