package serving

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Search finds the highest load that meets a condition (Promise), by doubling and then by bisection, in one launch.
// Axis is concurrency, in requests, or rate, in requests per second.
type Search struct {
	Axis    string `key:"axis"`
	Lowest  string `key:"from"` // text of From
	Highest string `key:"to"`
	From    float64
	To      float64
	Promise Promise `key:"promise"`
}

// Axes of a search.
const (
	ByConcurrency = "concurrency"
	ByRate        = "rate"
)

// finest is the precision of a search by rate: 2 %.
const finest = 1.02

// readSearch reads the value of option search; nil: there is none.
func readSearch(text string) (*Search, error) {
	if text == nothing || text == "" {
		return nil, nil
	}
	s := &Search{}
	if err := read(text, s); err != nil {
		return nil, err
	}
	return s, nil
}

func canonicalSearch(text string) (string, error) {
	s, err := readSearch(text)
	if s == nil {
		return nothing, err
	}
	return texts.Encode(*s, Search{}).JSON(), nil
}

// Check reads the bounds in the unit of the axis.
func (s *Search) Check(d *structure.Decoder) {
	if s.Axis != ByConcurrency && s.Axis != ByRate {
		d.At("axis").Fail("a search is along %s or %s, not %q", ByConcurrency, ByRate, s.Axis)
		return
	}
	for _, b := range []struct {
		key  string
		text *string
		to   *float64
	}{{"from", &s.Lowest, &s.From}, {"to", &s.Highest, &s.To}} {
		var err error
		if *b.to, err = s.bound(*b.text); err != nil {
			d.At(b.key).Fail("%w", err)
		}
		*b.text = s.Show(*b.to)
	}
	if s.From >= s.To {
		d.At("to").Fail("it is not above from, which is %s", s.Show(s.From))
	}
	if len(s.Promise) == 0 {
		d.Fail("it has no promise, as ttft.p90 <= 500ms")
	}
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

// Show formats a load.
func (s *Search) Show(load float64) string {
	if s.Axis == ByRate {
		return quantity.PerSecond(load).String()
	}
	return strconv.Itoa(int(load))
}

// Next returns the load to try next. kept is the highest load so far that met the condition, broken the lowest that did
// not; 0: none. ok is false when the search is over.
func (s *Search) Next(kept, broken float64) (load float64, ok bool) {
	switch {
	case kept == 0 && broken == 0:
		return s.From, true
	case kept == 0:
		return 0, false // not even the lowest load
	case broken == 0:
		return min(2*kept, s.To), kept < s.To
	case s.Axis == ByRate:
		return math.Sqrt(kept * broken), broken > finest*kept
	}
	return math.Floor((kept + broken) / 2), broken-kept > 1
}

// Ended is the note of a search about why it found no higher load: what the next one missed, or that it was told to try
// none. kept and broken are those of Next.
func (s *Search) Ended(kept, broken float64, missed string) string {
	switch {
	case kept == 0:
		return fmt.Sprintf("found.%s is 0: at %s %s, the lowest and the only one tried, %s; the case has the numbers of this level",
			s.Axis, s.Axis, s.Show(s.From), missed)
	case broken == 0:
		return fmt.Sprintf("found.%s is %s, the highest of the search, so the limit is not known: set a higher value of to",
			s.Axis, s.Show(kept))
	}
	return fmt.Sprintf("found.%s is %s: at %s %s %s", s.Axis, s.Show(kept), s.Axis, s.Show(broken), missed)
}

// Promise is a condition: bounds of metrics that must all hold.
type Promise []Bound

// Bound is a bound of a metric, in the metric's unit.
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

// MarshalText writes String.
func (p Promise) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the form of ParsePromise.
func (p *Promise) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePromise(string(text))
	return err
}

// String returns the form of ParsePromise.
func (p Promise) String() string {
	var parts []string
	for _, b := range p {
		parts = append(parts, b.Metric+" "+b.Op+" "+b.text)
	}
	return strings.Join(parts, " && ")
}

// Missed says which bound does not hold, and by which value; "": all hold.
func (p Promise) Missed(m map[string]float64) string {
	i := slices.IndexFunc(p, func(b Bound) bool { return !b.holds(m) })
	if i < 0 {
		return ""
	}
	b, found := p[i], "without a value"
	if v, ok := m[b.Metric]; ok {
		of, _ := workload.FindMetric(defined, b.Metric)
		found = quantity.Format(v, of.Unit)
	}
	return fmt.Sprintf("%s is %s, promised %s %s", b.Metric, found, b.Op, b.text)
}

// holds reports whether a bound holds. A metric without a value meets no bound.
func (b Bound) holds(m map[string]float64) bool {
	v, ok := m[b.Metric]
	switch {
	case !ok:
		return false
	case b.Op == "<=":
		return v <= b.Value
	case b.Op == "<":
		return v < b.Value
	case b.Op == ">=":
		return v >= b.Value
	}
	return v > b.Value
}

// TooFew names a bound of a quantile for which this many requests are too few; "" if they suffice for all.
func (p Promise) TooFew(requests int) string {
	for _, b := range p {
		if q, ok := quantileOf(b.Metric); ok && int64(requests) < q.TenBeyond() {
			return fmt.Sprintf(
				"%s of %d requests is imprecise: it takes %d",
				b.Metric,
				requests,
				q.TenBeyond(),
			)
		}
	}
	return ""
}

// minRequests is the default minimum of requests at a level of a search.
const minRequests = 100

// Enough returns the number of requests that suffices for all quantiles of the condition.
func (p Promise) Enough() int {
	n := minRequests
	for _, b := range p {
		if q, ok := quantileOf(b.Metric); ok {
			n = max(n, int(q.TenBeyond()))
		}
	}
	return n
}

// quantileOf returns the quantile of a metric; false: it is no quantile that needs many requests.
func quantileOf(metric string) (results.Quantile, bool) {
	m, known := workload.FindMetric(defined, metric)
	if !known {
		return 0, false
	}
	return m.Level()
}
