package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// stated is a gate assertion about transports.
func stated(of assertion.Share, at []int, names ...string) *results.AssertionVerdict {
	return &results.AssertionVerdict{
		Assertion: assertion.Assertion{Name: "t", Severity: assertion.Gate,
			Transport: &assertion.Transport{Of: of, Names: names}}, Looks: at,
	}
}

func carried(use string, names ...string) (out []results.Transport) {
	for _, n := range names {
		name, device, _ := strings.Cut(n, "/")
		out = append(out, results.Transport{Name: name, Device: device, Use: use, Ranks: []int{0}})
	}
	return out
}

// carriedBy is a case of which each launch had these transports.
func carriedBy(launches ...[]results.Transport) *results.Case {
	c := caseOf("c", make([]float64, len(launches))...)
	for i, ts := range launches {
		c.Launches[i].Metrics.Set("bandwidth", 1)
		c.Launches[i].Transports = ts
	}
	return c
}

func TestTransports(t *testing.T) {
	const data, possible, control = results.DataUse, results.PossibleUse, results.ControlUse
	rc, tcp, both := carried(data, "rc_mlx5/mlx5_0:1"), carried(data, "tcp/eth0"),
		carried(data, "rc_mlx5/mlx5_0:1", "tcp/eth0")
	wired := append(carried(data, "rc_mlx5/mlx5_0:1"), carried(control, "tcp/eth0")...)
	either := carried(possible, "posix/memory", "cma/memory")
	hidden := []results.Transport{{Name: "UCX", Use: data, Opaque: true, Ranks: []int{0}}}
	unnamed := []results.Transport{{Use: data, Ranks: []int{1}}}
	all, some, none := assertion.All, assertion.Some, assertion.None
	for name, c := range map[string]struct {
		of    assertion.Share
		names []string
		ts    []results.Transport
		want  results.Verdict
		says  string
	}{
		"nothing but it": {all, []string{"rc_mlx5"}, rc, results.Pass, "stated-held had=rc_mlx5/mlx5_0:1"},
		"by device":      {all, []string{"rc_mlx5/mlx5_0:1"}, rc, results.Pass, ""},
		"another": {all, []string{"rc_mlx5"}, tcp, results.Fail,
			"wrong-transport launch=1 transport=tcp/eth0"},
		"another beside it": {all, []string{"rc_mlx5"}, both, results.Fail, "wrong-transport transport=tcp/eth0"},

		"one of two that are allowed": {all, []string{"rc_mlx5", "tcp"}, both, results.Pass, ""},

		"what only wires up does not count": {all, []string{"rc_mlx5"}, wired, results.Pass, ""},

		"among others":   {some, []string{"tcp"}, both, results.Pass, ""},
		"not among them": {some, []string{"tcp"}, wired, results.Fail, "wrong-transport transport=rc_mlx5/mlx5_0:1"},
		"none of it":     {none, []string{"tcp"}, wired, results.Pass, ""},
		"some of it":     {none, []string{"tcp"}, both, results.Fail, "wrong-transport transport=tcp/eth0"},
		"either is as stated": {all, []string{"posix", "cma"}, either, results.Pass,
			"stated-held"},
		"for certain and possibly": {all, []string{"rc_mlx5", "posix", "cma"}, slices.Concat(rc, either),
			results.Pass, "stated-held"},
		"two of which none may be": {none, []string{"posix", "cma"}, either, results.Fail,

			"wrong-transport launch=1"},
		"one of either": {all, []string{"posix"}, either, results.ErrorVerdict,
			"transport-unknown"},
		"one of either, some": {some, []string{"posix"}, either, results.ErrorVerdict, "transport-unknown"},
		"one of either, none": {none, []string{"posix"}, either, results.ErrorVerdict, "transport-unknown"},
		"neither": {all, []string{"tcp"}, either, results.Fail,
			"wrong-transport"},
		"neither, none":     {none, []string{"tcp"}, either, results.Pass, ""},
		"both, some":        {some, []string{"posix", "cma"}, either, results.Pass, ""},
		"the plugin itself": {all, []string{"UCX"}, hidden, results.Pass, ""},
		"below the plugin":  {all, []string{"rc_mlx5"}, hidden, results.ErrorVerdict, "transport-unknown"},

		"below the plugin, some": {some, []string{"rc_mlx5"}, hidden, results.ErrorVerdict, "transport-unknown"},
		"below the plugin, none": {none, []string{"tcp"}, hidden, results.ErrorVerdict, "transport-unknown"},

		"not the plugin": {none, []string{"UCX"}, hidden, results.Fail, ""},
		"not said":       {none, []string{"tcp"}, nil, results.ErrorVerdict, "transport-unknown"},
		"only how it was wired": {none, []string{"tcp"}, carried(control, "rc_mlx5"), results.ErrorVerdict,
			"transport-unknown"},
		"not named": {none, []string{"tcp"}, unnamed, results.ErrorVerdict, "transport-unknown"},
	} {
		a := stated(c.of, []int{1}, c.names...)
		doc := judged(carriedBy(c.ts), a)
		if a.Verdict != c.want || !has(a.Reasons, c.says) {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
		if a.Observed != nil {
			t.Errorf("%s: it has the number %v", name, a.Observed)
		}
		Judge(doc)
		if a.Verdict != c.want {
			t.Errorf("%s: judged again it is %s", name, a.Verdict)
		}
	}
}

// One launch that took another way refutes at once; that all took it is shown at a look.
func TestTransportsOfSeveralLaunches(t *testing.T) {
	rc, tcp := carried(results.DataUse, "rc_mlx5"), carried(results.DataUse, "tcp")
	for name, c := range map[string]struct {
		launches [][]results.Transport
		want     results.Verdict
		asks     bool
	}{
		"before a look": {[][]results.Transport{rc, rc}, results.InconclusiveVerdict, true},
		"at the look":   {[][]results.Transport{rc, rc, rc}, results.Pass, false},
		"one is not":    {[][]results.Transport{rc, tcp}, results.Fail, false},
		"none yet":      {nil, results.ErrorVerdict, true},
	} {
		a := stated(assertion.All, []int{3, 5}, "rc_mlx5")
		doc := judged(carriedBy(c.launches...), a)
		wantVerdict(t, a, c.want)
		if asks := len(Undecided(doc)) > 0; asks != c.asks {
			t.Errorf("%s: asks for launches: %v", name, asks)
		}
	}
}

func TestTransportsSettleLikeAllOthers(t *testing.T) {
	tcp := carried(results.DataUse, "tcp")
	warn := stated(assertion.None, []int{1}, "tcp")
	warn.Severity = assertion.Warn
	judged(carriedBy(tcp), warn)
	wantVerdict(t, warn, results.WarnVerdict)

	known := stated(assertion.None, []int{1}, "tcp")
	known.XFail = &assertion.XFail{Reason: "no NIC", Until: "2999-01-01"}
	c := carriedBy(tcp)
	c.Assertions = []*results.AssertionVerdict{known}
	doc := docOf(c)
	doc.Session.Started = c.Launches[0].Started.AddDate(2020, 0, 0)
	Judge(doc)
	wantVerdict(t, known, results.XFail)

	failedLaunch := carriedBy(tcp)
	failedLaunch.Launches[0].Status = results.Error
	a := stated(assertion.None, []int{1}, "rc")
	judged(failedLaunch, a)
	wantVerdict(t, a, results.ErrorVerdict)

	skipped := carriedBy()
	skipped.Status = results.Skipped
	a = stated(assertion.None, []int{1}, "rc")
	judged(skipped, a)
	wantVerdict(t, a, results.SkippedVerdict)
}
