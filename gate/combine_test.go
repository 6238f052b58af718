package gate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func aggregate(op assertion.Op, args ...*assertion.Expr) *assertion.Expr {
	return &assertion.Expr{Op: op, Args: args}
}

// pair is a document of the cases a and b with an assertion of a against b.
func pair(a, b []float64, at []int) (*results.Document, *results.AssertionVerdict) {
	v := against("b", p(0.9), nil, at)
	doc := docOf(caseOf("a", a...), caseOf("b", b...))
	doc.Cases[0].Assertions = []*results.AssertionVerdict{v}
	return doc, v
}

// The interval of a ratio of two cases with own launches is Welch's, worked out
// by hand: logs of (2, 4, 8) have mean ln 4 and variance ln²2, those of (1, 4)
// have mean ln 2 and variance 2·ln²2; 4/2 = 2, V = ln²2·(1/3 + 1), and
// df = (4/3)²/((1/3)²/2 + 1/1) = 1.6842.
func TestRatioOfTwoCasesIsWelchs(t *testing.T) {
	doc, a := pair([]float64{2, 4, 8}, []float64{1, 4}, []int{2})
	Judge(doc)
	half := student(16./9/(1./18+1), results.Confidence) * math.Ln2 * math.Sqrt(4./3)
	want := &results.Observed{Value: 2, CI: &[2]float64{unlog(math.Ln2 - half), unlog(math.Ln2 + half)}, N: 2}
	if !near(a.Observed, want, 1e-9) {
		t.Errorf("observed %+v with %v, want %+v with %v", a.Observed, *a.Observed.CI, want, *want.CI)
	}
	if !has(a.Reasons, "unpaired") {
		t.Errorf("message %q", a.Message)
	}
}

func near(a, b *results.Observed, tolerance float64) bool {
	close := func(x, y float64) bool { return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y)) }
	return a != nil && a.N == b.N && close(a.Value, b.Value) &&
		(a.CI == nil) == (b.CI == nil) && (a.CI == nil || close(a.CI[0], b.CI[0]) && close(a.CI[1], b.CI[1]))
}

// Cases that took turns give the interval of the ratio in each pair, so that what
// one minute does to both cancels.
func TestCasesThatTookTurnsArePaired(t *testing.T) {
	for _, c := range []struct {
		name   string
		order  []int // which case's launch began when
		method string
		want   results.Verdict
	}{
		{"A B B A A B", []int{0, 1, 1, 0, 0, 1}, "paired", results.Pass},
		{"A B A B A B", []int{0, 1, 0, 1, 0, 1}, "paired", results.Pass},
		{"one after the other", []int{0, 0, 0, 1, 1, 1}, "unpaired", results.InconclusiveVerdict},
		{"A A B B A B", []int{0, 0, 1, 1, 0, 1}, "unpaired", results.InconclusiveVerdict},
		{"unknown", nil, "unpaired", results.InconclusiveVerdict},
	} {
		doc, a := pair([]float64{10, 20, 40}, []float64{10.1, 20, 40.2}, looks)
		began(c.order, doc.Cases...)
		Judge(doc)
		wantVerdict(t, a, c.want)
		if !has(a.Reasons, c.method) {
			t.Errorf("%s: message %q", c.name, a.Message)
		}
	}
}

// A product of powers has a value in each launch of cases that took turns; judging
// it through its derivatives must give what judging those values gives.
func TestPairedCombinationIsTheIntervalOfItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "launches")
		value := rapid.SliceOfN(rapid.Float64Range(1, 100), n, n)
		cases := []*results.Case{
			caseOf("a", value.Draw(t, "a")...), caseOf("b", value.Draw(t, "b")...), caseOf("c", value.Draw(t, "c")...),
		}
		var order []int
		for range n {
			order = append(order, rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")...)
		}
		began(order, cases...)
		var joint []float64
		for i := range n {
			x := func(k int) float64 { return cases[k].Launches[i].Metrics.At("bandwidth") }
			joint = append(joint, math.Sqrt(x(0)*x(1))/x(2)*x(0))
		}
		a := band(p(1), p(1e9), []int{n}) // of one bound, good outliers would be moved towards it
		a.Unit = "GB/s"
		gb := func(k string) *assertion.Expr { return of(k, "bandwidth", "GB/s") }
		a.Subject = aggregate(assertion.Mul, ratio(aggregate(assertion.Geomean, gb("a"), gb("b")), gb("c")), gb("a"))
		doc := docOf(cases...)
		doc.Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		e := logarithmic(joint, results.Confidence)
		if want := (&results.Observed{Value: e.center, CI: e.ci(), N: n}); !near(a.Observed, want, 1e-6) {
			t.Fatalf("observed %+v %v, want %+v %v: %s", a.Observed, a.Observed.CI, want, want.CI, a.Message)
		}
	})
}

// The derivatives are those that central differences of the same expression give.
func TestGradient(t *testing.T) {
	ops := []assertion.Op{assertion.Add, assertion.Sub, assertion.Mul, assertion.Div}
	for _, a := range assertion.Aggregates() {
		ops = append(ops, a.Op)
	}
	var draw func(t *rapid.T, depth int) *assertion.Expr
	draw = func(t *rapid.T, depth int) *assertion.Expr {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
			return of("c", rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "metric"), "GB/s")
		}
		e := &assertion.Expr{Op: rapid.SampledFrom(ops).Draw(t, "op")}
		n := 2
		if e.Op.Aggregates() {
			n = rapid.IntRange(1, 4).Draw(t, "operands")
		}
		for range n {
			e.Args = append(e.Args, draw(t, depth-1))
		}
		return e
	}
	names := map[string]int{"u": 0, "v": 1, "w": 2}
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 3)
		at := []float64{
			rapid.Float64Range(1, 2).Draw(t, "u"), rapid.Float64Range(3, 4).Draw(t, "v"),
			rapid.Float64Range(5, 6).Draw(t, "w"),
		}
		value := func(leaf *assertion.Expr) (float64, error) { return at[names[leaf.Metric]] / 1e9, nil }
		got, err := gradient(e, 3, value, func(leaf *assertion.Expr) int { return names[leaf.Metric] })
		if err != nil {
			t.Skip(err) // a difference that is zero below the line, or negative in a geometric mean
		}
		const h = 1e-6
		for i := range at {
			x := at[i]
			at[i] = x + h
			up, errUp := e.EvalWith(value, "")
			at[i] = x - h
			down, errDown := e.EvalWith(value, "")
			at[i] = x
			if errUp != nil || errDown != nil {
				t.Skip("next to a value that cannot be evaluated")
			}
			want := (up - down) / (2 * h)
			there, _ := e.EvalWith(value, "")
			if slack := 1e-4 * (1 + math.Abs(want) + math.Abs(there)); math.Abs(got[i]-want) > slack &&
				!kinked(e, value) {
				t.Fatalf("the slope of %s by variable %d is %v, want %v", e, i, got[i], want)
			}
		}
	})
}

// kinked says whether two operands of some least, greatest or middle are equal,
// where one-sided slopes differ.
func kinked(e *assertion.Expr, value func(*assertion.Expr) (float64, error)) bool {
	var values []float64
	for _, a := range e.Args {
		if kinked(a, value) {
			return true
		}
		v, err := a.EvalWith(value, "")
		if err != nil {
			return true
		}
		for _, other := range values {
			if math.Abs(v-other) < 1e-3 && e.Op != assertion.Add && e.Op != assertion.Mul {
				return true
			}
		}
		values = append(values, v)
	}
	return false
}

// Equal operands share the slope.
func TestGradientAtATie(t *testing.T) {
	e := aggregate(assertion.Min, of("a", "x", ""), of("b", "x", ""), of("c", "x", ""))
	place := map[string]int{"a": 0, "b": 1, "c": 2}
	got, err := gradient(e, 3, func(leaf *assertion.Expr) (float64, error) {
		return []float64{1, 1, 2}[place[leaf.Case]], nil
	},
		func(leaf *assertion.Expr) int { return place[leaf.Case] })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0.5, 0.5, 0}, got); diff != "" {
		t.Error(diff)
	}
}

// A difference of cases is judged on its own scale.
func TestDifferenceOfCases(t *testing.T) {
	doc, a := pair([]float64{10, 12, 14}, []float64{11, 12, 13}, looks)
	a.Subject = aggregate(assertion.Sub, metric("bandwidth", "GB/s"), of("b", "bandwidth", "GB/s"))
	a.Unit, a.Bounds = "GB/s", assertion.Bounds{Lower: p(-20), Upper: p(20)}
	Judge(doc)
	wantVerdict(t, a, results.Pass)
	v := 4./3 + 1./3
	half := student(v*v/(16./9/2+1./9/2), assertion.ConfidenceAt(results.Confidence, looks, 3)) * math.Sqrt(v)
	if want := (&results.Observed{Unit: "GB/s", CI: &[2]float64{-half, half}, N: 3}); !near(a.Observed, want, 1e-9) {
		t.Errorf("observed %+v %v, want %v", a.Observed, a.Observed.CI, half)
	}
}

func TestValidityOfTheOtherCase(t *testing.T) {
	steady := []float64{10, 10.1, 10.2}
	for _, c := range []struct {
		name      string
		spoil     func(*results.Document)
		want      results.Verdict
		says      string
		undecided int
	}{
		{"nothing", func(d *results.Document) {}, results.Pass, "a / b", 0},
		{"missing", func(d *results.Document) { d.Cases = d.Cases[:1] }, results.ErrorVerdict,
			"not-in-document case=b", 0},
		{"twice", func(d *results.Document) { d.Cases = append(d.Cases, caseOf("b", steady...)) }, results.ErrorVerdict,
			"not-in-document case=b", 0},
		{"error", func(d *results.Document) { d.Cases[1].Status, d.Cases[1].Reason = results.Error, "no UCX" },
			results.ErrorVerdict, "case-error case=b", 0},
		{"case-not-run status=skipped", func(d *results.Document) {
			d.Cases[1].Status,
				d.Cases[1].Reason = results.Skipped, "needs x"
		},
			results.SkippedVerdict, "case-not-run case=b status=skipped", 0},
		{"excluded", func(d *results.Document) { d.Cases[1].Status = results.Excluded }, results.SkippedVerdict,
			"case-not-run case=b status=excluded", 0},
		{"own skipped", func(d *results.Document) { d.Cases[0].Status = results.Skipped }, results.SkippedVerdict,
			"case-not-run status=skipped", 0},
		{"unverified", func(d *results.Document) { d.Cases[1].Launches[1].Verified = false }, results.ErrorVerdict,
			"unverified case=b launch=2", 0},
		{"above its ceiling", func(d *results.Document) {
			for _, l := range d.Cases[1].Launches {
				l.Metrics.Set("ceiling", 1.4)
			}
		}, results.ErrorVerdict, "above-ceiling case=b", 0},
		{"no launch yet", func(d *results.Document) { d.Cases[1].Launches = nil }, results.ErrorVerdict,
			"no-launch case=b", 1},
		{"one launch yet", func(d *results.Document) { d.Cases[1].Launches = d.Cases[1].Launches[:1] },
			results.InconclusiveVerdict, "next-look next=3", 1},
		{"no metric", func(d *results.Document) { d.Cases[1].Launches[2].Metrics.Delete("bandwidth") },
			results.ErrorVerdict, "metric-missing case=b launch=3 metric=bandwidth", 0},
		{"zero", func(d *results.Document) { d.Cases[1].Launches[2].Metrics.Set("bandwidth", 0) }, results.ErrorVerdict,
			"not-above-zero case=b launch=3 value=0", 0},
		{"NaN", func(d *results.Document) { d.Cases[1].Launches[2].Metrics.Set("bandwidth", math.NaN()) },
			results.ErrorVerdict, "metric-not-finite case=b launch=3 metric=bandwidth value=NaN", 0},
		{"a launch taken out",
			func(d *results.Document) { d.Cases[1].Made = 3; d.Cases[1].Launches = d.Cases[1].Launches[1:] },
			results.ErrorVerdict, "launches-removed case=b made=3 stored=2", 0},
		{"one that did not get there", func(d *results.Document) { d.Cases[1].Launches[2].Index = 3 }, results.Pass,
			"inside n=3", 0},
		{"a launch doubled", func(d *results.Document) { d.Cases[1].Launches[0].Index = 1 }, results.ErrorVerdict,
			"launch-twice case=b launch=2", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, a := pair(steady, steady, looks)
			c.spoil(doc)
			Judge(doc)
			wantVerdict(t, a, c.want)
			if c.name != "nothing" && !has(a.Reasons, c.says) {
				t.Errorf("message %q has not %q", a.Message, c.says)
			}
			if got := Undecided(doc); len(got) != c.undecided {
				t.Errorf("undecided %v, want %d cases", got, c.undecided)
			}
			if c.want == results.ErrorVerdict && doc.Session.ExitCode != ExitExecution {
				t.Errorf("exit code %d", doc.Session.ExitCode)
			}
		})
	}
}

// An outlier of either case is named, and a verdict that hangs on it is none.
func TestOutlierOfACombination(t *testing.T) {
	steady := []float64{10, 10.01, 9.99, 10.02, 9.98}
	doc, a := pair(steady, []float64{10, 10.01, 9.99, 10.02, 30}, []int{5})
	a.Bounds.Lower = p(0.98)
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
	if !has(a.Reasons, "outliers") {
		t.Errorf("message %q", a.Message)
	}
}

// Launches of one session carry what it did to all of its cases: a mean over them
// must not take them for independent.
func TestSharedNoiseDoesNotAverageOut(t *testing.T) {
	shared := []float64{8, 10, 12}
	var cases []*results.Case
	var args []*assertion.Expr
	for i := range 8 {
		cases = append(cases, caseOf(string(rune('a'+i)), shared...))
		args = append(args, of(cases[i].Key, "bandwidth", "GB/s"))
	}
	var order []int
	for range shared {
		for i := range cases {
			order = append(order, i)
		}
	}
	began(order, cases...)
	a := band(p(1), nil, looks)
	a.Subject = aggregate(assertion.Geomean, args...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	e := logarithmic(shared, assertion.ConfidenceAt(results.Confidence, looks, 3))
	if want := (&results.Observed{Value: e.center, CI: e.ci(), N: 3}); !near(a.Observed, want, 1e-9) {
		t.Errorf("observed %v %v, want the interval of one case %v", a.Observed, a.Observed.CI, want.CI)
	}
}
