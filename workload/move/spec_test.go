package move_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

var word = rapid.SampledFrom([]string{"", "write", "read", "heap", "a=b; c", "\"<&>\u2028é"})

// drawTime draws a time that its text represents to the nanosecond: up to 13 days, as in schedules.
func drawTime(t *rapid.T, what string) quantity.Time {
	return quantity.Time(rapid.Int64Range(0, 1<<50).Draw(t, what))
}

func drawShare(t *rapid.T, what string) quantity.Percent {
	return quantity.Percent(quantity.Round(rapid.Float64Range(0, 1).Draw(t, what)))
}

// drawSpec draws a movement without a matrix.
func drawSpec(t *rapid.T) move.Spec {
	var s move.Spec
	for _, p := range []*string{
		&s.Fabric, &s.Op, &s.Initiator, &s.Target, &s.Pattern, &s.Mode, &s.Verify, &s.Reuse, &s.Pages, &s.Payload,
		&s.Alloc, &s.Wait, &s.NUMA,
	} {
		*p = word.Draw(t, "word")
	}
	for _, p := range []*int64{&s.Batch, &s.Iterations, &s.Warmup, &s.InFlight, &s.Threads, &s.Ranks, &s.Shards} {
		*p = rapid.Int64Range(0, 1<<40).Draw(t, "count")
	}
	s.Bidirectional = rapid.Bool().Draw(t, "bidirectional")
	s.BlockSize = quantity.Size(rapid.Int64Range(0, 1<<40).Draw(t, "block size"))
	s.Duration = drawTime(t, "duration")
	for range rapid.IntRange(0, 2).Draw(t, "options of the fabric") {
		if s.FabricOptions == nil {
			s.FabricOptions = fabric.Options{}
		}
		s.FabricOptions[word.Draw(t, "option")] = word.Draw(t, "value")
	}
	if rapid.Bool().Draw(t, "simulated") {
		s.Sim = &fabric.Simulation{
			Latency: drawTime(t, "latency"), Seed: rapid.Int64().Draw(t, "seed"),
			Bandwidth: quantity.Rate(quantity.Round(rapid.Float64Range(1, 1e18).Draw(t, "bandwidth"))),
			Noise:     drawShare(t, "noise"), Jitter: drawShare(t, "jitter"),
			Stragglers: drawShare(t, "stragglers"), StragglerLoss: drawShare(t, "loss"), Drift: drawShare(t, "drift"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "failures") {
			s.Sim.Failures = append(s.Sim.Failures, option.SimFailure{
				Launch: rapid.IntRange(-1, 9).Draw(t, "launch"), Rank: rapid.IntRange(-1, 9).Draw(t, "rank"),
				Phase: "run", Kind: word.Draw(t, "kind"), Share: drawShare(t, "share"),
			})
		}
	}
	return s
}

// drawMatrix draws a matrix with cells, with some of ranks with themselves.
func drawMatrix(t *rapid.T) *matrix.Matrix {
	ranks := rapid.IntRange(2, 6).Draw(t, "ranks of the matrix")
	cells := []matrix.Cell{{From: 0, To: 1, Bytes: rapid.Int64Range(1, 1<<40).Draw(t, "bytes of the first")}}
	for from := range ranks {
		for to := range ranks {
			if from+1 != to && rapid.IntRange(0, 3).Draw(t, "sends") == 0 {
				cells = append(cells, matrix.Cell{
					From: from, To: to, Bytes: rapid.Int64Range(1, 1<<40).Draw(t, "bytes"),
				})
			}
		}
	}
	m, err := matrix.New(ranks, cells)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// drawTraffic draws a movement by a matrix, maybe a pattern of a sequence.
func drawTraffic(t *rapid.T) move.Spec {
	s := drawSpec(t)
	own := rapid.SampledFrom([]string{option.OwnCopy, option.OwnIgnore}).Draw(t, "own cells")
	if err := s.SetMatrix(drawMatrix(t), own); err != nil {
		t.Fatal(err)
	}
	s.Pattern = move.MatrixPattern
	s.Fit()
	if rapid.Bool().Draw(t, "in a sequence") {
		count := rapid.Int64Range(0, 1<<40)
		s.Step = &move.Step{
			Pattern: count.Draw(t, "place"), Iterations: count.Draw(t, "times"), Warmup: count.Draw(t, "times before"),
			Overlap: rapid.Bool().Draw(t, "overlap"),
			Before:  drawTime(t, "before"), After: drawTime(t, "after"), Due: drawTime(t, "due"),
		}
	}
	return s
}

// written returns a Spec as encoded in a case of a launch.
func written(t interface{ Fatal(...any) }, s move.Spec) (spec, large json.RawMessage) {
	spec, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if large, err = s.Large(); err != nil {
		t.Fatal(err)
	}
	return spec, large
}

var byCells = cmp.Comparer(func(a, b *matrix.Matrix) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Compact() == b.Compact()
})

// The decoded case equals the encoded one. Its matrices are sent separately, so that the rest is small however many
// cells there are.
func TestSpecsSurvive(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) move.Spec{"transfer": drawSpec, "traffic": drawTraffic} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := draw(t)
				spec, large := written(t, in)
				if (large != nil) != (name == "traffic") {
					t.Fatalf("of %s there is %s", name, large)
				}
				out, err := move.Read(spec, large)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(in, out, byCells); diff != "" {
					t.Fatalf("-in +out %s", diff)
				}
				bare := in
				bare.Matrix, bare.Own = nil, nil
				if small, err := move.Read(spec, nil); err != nil || !cmp.Equal(small, bare, byCells) {
					t.Fatalf("%s has something of a matrix, %v", spec, err)
				}
			})
		})
	}
}

func TestInvalidSpecs(t *testing.T) {
	for _, c := range []struct{ spec, matrices, wrong string }{
		{"", "", "reading the options of a case: "},
		{"{", "", "reading the options of a case: "},
		{`{"BlockSize": "many"}`, "", "reading the options of a case: "},
		{"{}", "{", "reading the matrix of a case: "},
		{"{}", `{"Matrix": "2: 0>2=5"}`, "reading the matrix of a case: "},
	} {
		s, err := move.Read(json.RawMessage(c.spec), json.RawMessage(c.matrices))
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q and %q: %+v, %v; want %q", c.spec, c.matrices, s, err, c.wrong)
		}
	}
}

// other is a Spec of another workload.
type other struct{}

func (other) Demand() workload.Demand { return workload.Demand{} }

// Cases share the large part only if both of their matrices are identical objects.
func TestSameLarge(t *testing.T) {
	m, like, own := ring(t), ring(t), ring(t)
	a := move.Spec{Matrix: m, Own: own, Op: "write"}
	var _ workload.Large = a
	for name, c := range map[string]struct {
		b    workload.Spec
		same bool
	}{
		"itself":              {&a, true},
		"another case of it":  {&move.Spec{Matrix: m, Own: own, Op: "read", Shards: 5}, true},
		"another matrix":      {&move.Spec{Matrix: like, Own: own}, false},
		"no matrix":           {&move.Spec{}, false},
		"no cells of its own": {&move.Spec{Matrix: m}, false},
		"other cells of its":  {&move.Spec{Matrix: m, Own: like}, false},
		"of another workload": {other{}, false},
		"nothing to compare":  {nil, false},
	} {
		if got := a.SameLarge(c.b); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !(move.Spec{}).SameLarge(&move.Spec{Op: "read"}) {
		t.Error("two cases without a matrix have different ones")
	}
}

func ring(t *testing.T) *matrix.Matrix {
	t.Helper()
	m, err := matrix.Ring(3, 5)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
