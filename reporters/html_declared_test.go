package reporters

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// recorded are two cases with two launches of two ranks each, with records of a time, a number of
// each operation and a list of each, and the files that these are in.
func recorded(t *testing.T) ([]*results.Case, fstest.MapFS) {
	t.Helper()
	cases, files := swept([]string{"load"}, []string{"1", "2"}), fstest.MapFS{}
	for i, c := range cases {
		c.Key = fmt.Sprintf("r[load=%d]", i+1)
		for launch := range 2 {
			l := &results.Launch{Index: launch, Status: results.OK}
			for rank := range 2 {
				r := results.NewRecords("at", "took", "rest")
				r.Case, r.Launch, r.Rank = c.Key, launch, rank
				for k := range int64(3) {
					r.Add(5000+1000*k, 100*(k+1)+int64(rank), 50)
				}
				list := results.Column{Name: "gaps", Ends: []int{}}
				for range 3 {
					list.AddList([]int64{10, 20, 30})
				}
				r.Columns = append(r.Columns, list)
				var b bytes.Buffer
				if err := r.Write(&b); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("samples/%d-%d-%d", i, launch, rank)
				files[name] = &fstest.MapFile{Data: b.Bytes()}
				l.Samples = append(l.Samples, name)
			}
			c.Launches = append(c.Launches, l)
		}
	}
	return cases, files
}

// A workload says in its table which charts there are, and records become these.
func TestDeclaredCharts(t *testing.T) {
	cases, files := recorded(t)
	d := newDraft(workload.NewDefinitions(nil))
	d.samples = sampleFiles{files: files}
	columns := []workload.RecordColumn{{Name: "took"}, {Name: "rest", Title: "the rest"}}

	phases := d.ofLaunches(cases, workload.ChartSpec{Title: "p", Shows: workload.Phases, At: "at", Columns: columns})
	if len(phases.Charts) != 2 || len(phases.Charts[0].Rows) != 2 || len(phases.Charts[0].Spans) != 4 {
		t.Fatalf("phases %+v", phases)
	}
	// the operation in the middle begins at the same time at both ranks; rank 1 takes 201 ns
	if s := phases.Charts[0].Spans[3]; s.Row != 1 || math.Abs(s.From-201e-9) > 1e-15 || math.Abs(s.To-251e-9) > 1e-15 ||
		s.Group != "the rest" || s.Says != "rank 1, the rest: 50.0 ns, from 201 ns" {
		t.Errorf("%+v", s)
	}
	ranks := d.ofLaunches(cases, workload.ChartSpec{Title: "b", Shows: workload.ByRank, Columns: columns}).Charts[0]
	if len(ranks.Cells) != 4 || ranks.Cells[2].Heat != 1 || ranks.Cells[1].Heat != 0 ||
		!strings.Contains(ranks.Cells[2].Says, "rank 1, took: 201 ns on average") {
		t.Errorf("by rank %+v", ranks.Cells)
	}
	course := d.ofLaunches(cases,
		workload.ChartSpec{Title: "c", Shows: workload.Course, At: "at", Columns: columns}).Charts[0]
	if len(course.Series) != 2 || len(course.Series[0].Points) != 6 || course.Series[0].Points[0].X != 0 {
		t.Errorf("course %+v", course)
	}
	second := workload.ChartSpec{Title: "s", Shows: workload.Distribution, Only: map[string]int64{"at": 6000},
		Columns: []workload.RecordColumn{{Name: "took", Since: "rest"}}}
	since := d.recorded(cases, second).Charts[1].Series[0].Points // of ranks 0 and 1: 200 and 201 less 50
	if math.Abs(since[0].X-150e-9) > 1e-15 || math.Abs(since[len(since)-1].X-151e-9) > 1e-15 {
		t.Errorf("the second operations take %+v", since)
	}
	lists := d.recorded(cases, workload.ChartSpec{Title: "d", Shows: workload.Distribution,
		Columns: []workload.RecordColumn{{Name: "gaps"}}})
	if len(lists.Charts) != 2 || len(lists.Charts[0].Series) != 2 || lists.Charts[0].Series[0].Name != "r[load=1]" {
		t.Fatalf("distribution %+v", lists)
	}
	points := lists.Charts[0].Series[0].Points
	if last := points[len(points)-1]; last.Y != 1 || math.Abs(last.X-30e-9) > 1e-15 {
		t.Errorf("the distribution ends at %+v", last)
	}
	for _, chart := range []workload.ChartSpec{
		{Shows: workload.Phases, At: "nothing", Columns: columns}, {Shows: workload.ByRank},
		{Shows: workload.Course, At: "gaps", Columns: columns},
	} {
		if f := d.ofLaunches(cases, chart); len(f.Charts) != 0 {
			t.Errorf("%+v has %d charts", chart, len(f.Charts))
		}
	}
}

// One metric over another is joined along the axis of the run.
func TestPairsOfMetrics(t *testing.T) {
	cases := swept([]string{"load"}, []string{"1", "2", "4"})
	for i, c := range cases {
		c.Key = "k"
		c.Metrics.Set("rate", results.MetricEstimate{Unit: "1/s", N: 3, Value: []float64{10, 19, 20}[i]})
		c.Metrics.Set("wait", results.MetricEstimate{Unit: "s", N: 3, Value: []float64{0.1, 0.2, 4}[i],
			CI: &[2]float64{0.05, 5}, Confidence: 0.96})
	}
	d := newDraft(workload.NewDefinitions(nil))
	f := d.pairs(newLayout(cases), workload.ChartSpec{Title: "knee", X: "rate", Y: "wait"})
	if len(f.Charts) != 1 || len(f.Charts[0].Series) != 1 {
		t.Fatalf("%+v", f)
	}
	chart := f.Charts[0]
	p := chart.Series[0].Points
	if len(p) != 3 || p[1].X != 19 || p[1].Y != 0.2 || *p[1].CI != [2]float64{0.05, 5} || !chart.Y.Log ||
		chart.X.Name != "rate 1/s" || chart.Interval != "96% interval" {
		t.Errorf("%+v", chart)
	}
	if f := d.pairs(newLayout(cases), workload.ChartSpec{X: "rate", Y: "nothing"}); len(f.Charts) != 0 {
		t.Error("a metric that was not measured has a chart")
	}
}

// Histograms of raw samples become a distribution, of all launches and ranks together; without the
// files there is none, and the quantiles of the document are drawn instead.
func TestDistributionOfSamples(t *testing.T) {
	cases := swept([]string{"size"}, []string{"1", "2"})
	files := fstest.MapFS{}
	for i, c := range cases {
		c.Key = fmt.Sprintf("r[size=%d]", i+1)
		for launch := range 2 {
			s := &results.Samples{Case: c.Key, Launch: launch, Counts: map[int]int64{1000: 98, 2000: int64(1 + i)}}
			var b bytes.Buffer
			if err := s.Write(&b); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("samples/%d-%d", i, launch)
			files[name] = &fstest.MapFile{Data: b.Bytes()}
			c.Launches = append(c.Launches, &results.Launch{Index: launch, Status: results.OK, Samples: []string{name}})
		}
	}
	d := newDraft(workload.NewDefinitions(nil))
	if f, sampled := d.distributions(cases); sampled || f != nil {
		t.Error("without files there is a distribution")
	}
	d.samples = sampleFiles{files: files}
	figures, sampled := d.distributions(cases)
	if !sampled || len(figures) != 1 || len(figures[0].Charts) != 2 {
		t.Fatalf("%+v", figures)
	}
	second := figures[0].Charts[0].Series[1]
	if says := second.Points[1].Says[0]; says != "r[size=2]: 98% are below 1.00 µs" &&
		!strings.HasPrefix(says, "r[size=2]: 98% are below ") {
		t.Errorf("it says %q", says)
	}
	share := func(p html.Point) float64 { return p.Y }
	if last := second.Points[len(second.Points)-1]; share(last) != 1 {
		t.Errorf("it ends at %v", last)
	}
	delete(files, "samples/0-0")
	d.samples = sampleFiles{files: files}
	if f, _ := d.distributions(cases); len(f) != 1 {
		t.Error("with the files of one case there is no distribution")
	}
}

// The page says of each run what it was run with: fabric and transport as they were read back, options
// that are no defaults with the variant that brings them, environment, and where ranks were.
func TestPageSaysWhatWasRun(t *testing.T) {
	cases := swept([]string{"variant"}, []string{"stock", "patched"})
	for i, c := range cases {
		c.Options = map[string]any{"fabric": "auto", "in_flight": []float64{4, 16}[i],
			"block_size": "64KiB", "op": "write"}
		c.Env = map[string]string{"UCX_TLS": "tcp"}
		c.Launches = []*results.Launch{{Status: results.OK, Fabric: "ucx", Nodes: []string{"n1", "n1", "n2"},
			Transports: []results.Transport{{Name: "tcp", Device: "eth0", Use: results.DataUse, Ranks: []int{0}}}}}
	}
	got := map[string]string{}
	for _, s := range setup(cases) {
		if s.Doc == "" && s.Name != "block_size" && s.Name != "in_flight" {
			t.Errorf("%s has no definition behind it", s.Name)
		}
		got[s.Name] = s.Value
	}
	for name, want := range map[string]string{
		"fabric": "ucx", "placement": "3: 0–1 on n1, 2 on n2", "env UCX_TLS": "tcp",
		"in_flight": "4 (variant=stock) or 16 (variant=patched)",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if !strings.Contains(got["transport"], "tcp/eth0") {
		t.Errorf("transport %q", got["transport"])
	}
	if v, ok := got["op"]; ok {
		t.Errorf("op is its default, and the page says %q", v)
	}
}

// Findings of one cause are one group with all their places; so is an assertion that breaks at
// several cases, the worst of them first.
func TestFindingsByReason(t *testing.T) {
	cause := "missing: NUMA node 9 on node vm"
	type list = []finding
	one := func(where, message string) finding { return finding{standing: "error", where: where, message: message} }
	all := byReason(list{
		one("session", cause), one("a", "the case ended with an error: "+cause),
		one("b", "the case ended with an error: rank 1 died"), one("c", "the case ended with an error: "+cause),
		one("check x", "failed: "+cause+" (remedy: none)"),
	})
	if len(all) != 2 || len(all[0]) != 4 || all[1][0].where != "b" {
		t.Errorf("%+v", all)
	}
	doc := session(400, 3)
	d := newDraft(workload.DefinitionsOf(doc))
	groups := d.groups(doc)
	if len(groups) != 1 || len(groups[0].Cards) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	card := groups[0].Cards[0]
	if !strings.HasPrefix(groups[0].Title, "Failed (8, for 1 reason)") || card.Others == nil ||
		len(card.Others.Rows) != 8 || card.Name != "floor and 7 more" {
		t.Errorf("%s: %+v", groups[0].Title, card)
	}
}

// Runs that differ by the same axes share charts, in which each run is a series.
func TestRunsTogether(t *testing.T) {
	doc := session(64, 3)
	for i, c := range doc.Cases {
		if i >= 32 {
			c.Run = "again"
			c.Axes["block_size"] = doc.Cases[i-32].Axes["block_size"]
		}
		c.Axes["batch"] = int64(1)
	}
	d := newDraft(workload.DefinitionsOf(doc))
	out := d.together(doc, grids(doc))
	if len(out) != 1 || len(out[0].Figures) == 0 {
		t.Fatalf("%+v", out)
	}
	var names []string
	for _, s := range out[0].Figures[0].Charts[0].Series {
		names = append(names, s.Name)
	}
	if len(names) != 8 || !slices.Contains(names, "run=again, fabric=shm") {
		t.Errorf("series %q", names)
	}
}

// A baseline is in the chart of what it is held against, in the same colour; so are nominal links.
func TestBaselineAndLinksInTheChart(t *testing.T) {
	doc := session(32, 3)
	doc.Site = &results.Site{Links: map[string]float64{"nic": 25}}
	doc.Baseline = &results.Baseline{}
	for _, c := range doc.Cases[:16] {
		doc.Baseline.Cases = append(doc.Baseline.Cases, results.BaselineCase{Key: c.Key,
			Launches: []results.MetricValues{
				results.ValuesOf(map[string]float64{"bandwidth": 4}),
				results.ValuesOf(map[string]float64{"bandwidth": 9}),
			}})
	}
	d := newDraft(workload.DefinitionsOf(doc))
	f, ok := d.figure(doc, newLayout(doc.Cases), "bandwidth")
	if !ok {
		t.Fatal("no figure")
	}
	chart := f.Charts[0]
	i := slices.IndexFunc(chart.Series, func(s html.Series) bool { return s.Name == "baseline fabric=shm" })
	if i < 0 || chart.Series[i].Of != "fabric=shm" || chart.Series[i].Style != html.Dashed ||
		math.Abs(chart.Series[i].Points[0].Y-6) > 1e-9 {
		t.Errorf("%+v", chart.Series)
	}
	if len(chart.Levels) != 1 || chart.Levels[0] != (html.Level{Name: "nominal nic", At: 25}) {
		t.Errorf("levels %+v", chart.Levels)
	}
}
