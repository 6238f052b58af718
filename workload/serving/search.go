package serving

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// Search finds the highest load that keeps a promise, by doubling and then by bisection, all in
// one launch. Axis is concurrency, in requests, or rate, in requests per second.
type Search struct {
	Axis     string
	From, To float64
	Promise  Promise
}

// Axes of a search.
const (
	ByConcurrency = "concurrency"
	ByRate        = "rate"
)

// finest is how near the bounds of a search by rate come: within 2 %.
const finest = 1.02

var searchKeys = []string{"axis", "from", "to", "promise"}

func readSearch(text string) (*Search, keys, error) {
	k, err := flat(text, searchKeys...)
	if err != nil || len(k) == 0 {
		return nil, k, err
	}
	s := &Search{Axis: k["axis"]}
	if s.Axis != ByConcurrency && s.Axis != ByRate {
		return nil, nil, workload.Wrong([]string{"axis"}, "a search is along %s or %s, not %q", ByConcurrency, ByRate,
			s.Axis)
	}
	for name, to := range map[string]*float64{"from": &s.From, "to": &s.To} {
		if *to, err = s.bound(k[name]); err != nil {
			return nil, nil, workload.Wrong([]string{name}, "%w", err)
		}
		k[name] = s.Show(*to)
	}
	if s.From >= s.To {
		return nil, nil, workload.Wrong([]string{"to"}, "it is not above from, which is %s", s.Show(s.From))
	}
	if s.Promise, err = ParsePromise(k["promise"]); err != nil {
		return nil, nil, workload.Wrong([]string{"promise"}, "%w", err)
	}
	k["promise"] = s.Promise.String()
	return s, k, nil
}

func canonicalSearch(text string) (string, error) {
	_, k, err := readSearch(text)
	return k.write(searchKeys...), err
}

func (s *Search) bound(text string) (float64, error) {
	if s.Axis == ByRate {
		v, err := quantity.ReadPerSecond(text)
		if err == nil && !(v > 0) {
			err = fmt.Errorf("a rate is above 0, as 2/s")
		}
		return float64(v), err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<17 {
		return 0, fmt.Errorf("%q is no number of requests from 1 to %d", text, 1<<17)
	}
	return float64(n), nil
}

// Show is a load for a person.
func (s *Search) Show(load float64) string {
	if s.Axis == ByRate {
		return quantity.PerSecond(load).String()
	}
	return strconv.Itoa(int(load))
}

// Next is the load to try after those that kept the promise up to one, and those that broke it
// from another on; 0: none did yet. ok is false when the search is over.
func (s *Search) Next(kept, broken float64) (load float64, ok bool) {
	switch {
	case kept == 0 && broken == 0:
		return s.From, true
	case kept == 0:
		return 0, false // not even the lowest
	case broken == 0:
		return min(2*kept, s.To), kept < s.To
	case s.Axis == ByRate:
		return math.Sqrt(kept * broken), broken > finest*kept
	}
	return math.Floor((kept + broken) / 2), broken-kept > 1
}

// Promise are bounds of metrics, all of which hold.
type Promise []Bound

// Bound is one of them, in the unit of the metric.
type Bound struct {
	Metric string
	Op     string // <=, <, >= or >
	Value  float64
	text   string // of the value
}

// ParsePromise reads METRIC OP VALUE && …, as "ttft.p90 <= 500ms && error_rate <= 0%".
func ParsePromise(text string) (Promise, error) {
	var all Promise
	for part := range strings.SplitSeq(text, "&&") {
		b, err := parseBound(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func parseBound(text string) (Bound, error) {
	b := Bound{}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return b, fmt.Errorf("%q is no promise: write METRIC <= VALUE && …, as ttft.p90 <= 500ms", text)
	}
	b.Metric, b.Op = strings.TrimSpace(text[:at]), text[at:at+1]
	if strings.HasPrefix(text[at+1:], "=") {
		b.Op += "="
	}
	b.text = strings.TrimSpace(text[at+len(b.Op):])
	m, known := workload.FindMetric(defined, b.Metric)
	if !known {
		return b, fmt.Errorf("workload serving has no metric %q; `weir docs metrics serving` lists them", b.Metric)
	}
	q, err := quantity.Parse(b.text)
	if err != nil {
		return b, err
	}
	switch {
	case q.Dim == m.Dim():
		b.Value = q.Value
	case q.Unit == "": // a bare number has the metric's unit
		b.Value = q.Value
	default:
		return b, fmt.Errorf("%s is in %q, and %q is not", b.Metric, m.Unit, b.text)
	}
	return b, nil
}

// String is what ParsePromise reads.
func (p Promise) String() string {
	var parts []string
	for _, b := range p {
		parts = append(parts, b.Metric+" "+b.Op+" "+b.text)
	}
	return strings.Join(parts, " && ")
}

// Kept says whether all bounds hold. A metric that was not measured keeps none.
func (p Promise) Kept(m map[string]float64) bool {
	return !slices.ContainsFunc(p, func(b Bound) bool {
		v, ok := m[b.Metric]
		switch {
		case !ok:
			return true
		case b.Op == "<=":
			return v > b.Value
		case b.Op == "<":
			return v >= b.Value
		case b.Op == ">=":
			return v < b.Value
		}
		return v <= b.Value
	})
}

// TooFew is a bound whose quantile so many requests do not tell; "" if they tell all.
func (p Promise) TooFew(requests int) string {
	for _, b := range p {
		if q, ok := quantileOf(b.Metric); ok && int64(requests) < q.TenBeyond() {
			return fmt.Sprintf(
				"%s of %d requests is no more than a guess: %d would tell",
				b.Metric,
				requests,
				q.TenBeyond(),
			)
		}
	}
	return ""
}

// leastRequests is how many requests a level of a search has at least, where nobody says.
const leastRequests = 100

// Enough is how many requests tell all quantiles of the promise.
func (p Promise) Enough() int {
	n := leastRequests
	for _, b := range p {
		if q, ok := quantileOf(b.Metric); ok {
			n = max(n, int(q.TenBeyond()))
		}
	}
	return n
}

// quantileOf is the quantile that a metric is; false: it is none that few requests cannot tell.
func quantileOf(metric string) (results.Quantile, bool) {
	m, known := workload.FindMetric(defined, metric)
	if !known {
		return 0, false
	}
	return m.Level()
}
