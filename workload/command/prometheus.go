package command

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/suggest"
)

var seriesName = lazyregexp.New(`^[A-Za-z_:][A-Za-z0-9_:]*$`)

// counterSuffixes are the suffixes of counters in Prometheus.
var counterSuffixes = []string{"_total", "_sum", "_count", "_bucket"}

// Labels of the bounds of buckets and of quantiles, which have numbers as values.
const (
	bucketLabel   = "le"
	quantileLabel = "quantile"
)

// selector chooses the series of a page with a name and all of its labels.
type selector struct {
	text, name string
	labels     map[string]string
}

// readSelector reads NAME or NAME{LABEL="VALUE",…}.
func readSelector(text string) (selector, error) {
	name, labels, has := strings.Cut(text, "{")
	s := selector{text: text, name: strings.TrimSpace(name)}
	if !seriesName().MatchString(s.name) {
		return s, fmt.Errorf("%q is no name of a metric", s.name)
	}
	if !has {
		return s, nil
	}
	one, err := families("chosen{" + labels + " 0\n")
	if err != nil || !strings.HasSuffix(strings.TrimSpace(text), "}") ||
		strings.ContainsAny(text, "\r\n") || one["chosen"] == nil {
		return s, fmt.Errorf(`%q does not choose series by their labels: write %s{LABEL="VALUE"}, with commas between several`,
			text, s.name)
	}
	s.labels = labelsOf(one["chosen"].Metric[0])
	return s, nil
}

func selectorError(text string) error {
	_, err := readSelector(text)
	return err
}

func families(page string) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(page))
}

func labelsOf(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, l := range m.Label {
		all[l.GetName()] = l.GetValue()
	}
	return all
}

// series is one line of a page.
type series struct {
	labels   map[string]string
	value    float64
	grows    bool // it is a counter
	quantile bool // one of a summary's quantiles, chosen only by its label
}

func (s selector) matches(one series) bool {
	if _, asked := s.labels[quantileLabel]; one.quantile && !asked {
		return false
	}
	for name, want := range s.labels {
		have, ok := one.labels[name]
		if !ok || have != want && !sameBound(name, have, want) {
			return false
		}
	}
	return true
}

// sameBound reports whether two label values are the same number, as 1 and 1.0.
func sameBound(label, a, b string) bool {
	if label != bucketLabel && label != quantileLabel {
		return false
	}
	x, err := strconv.ParseFloat(a, 64)
	y, wrong := strconv.ParseFloat(b, 64)
	return err == nil && wrong == nil && x == y
}

// page has the series of a page by name.
type page map[string][]series

// readPage reads the text format of Prometheus.
func readPage(text string) (page, error) {
	found, err := families(text)
	if err != nil {
		return nil, fmt.Errorf("its /metrics: %w", err)
	}
	all := page{}
	for name, f := range found {
		for _, m := range f.Metric {
			all.add(name, f.GetType(), m)
		}
	}
	return all, nil
}

// add adds the series of a metric. The name of a histogram or summary also stands for its count.
func (p page) add(name string, of dto.MetricType, m *dto.Metric) {
	put := func(suffix string, grows bool, v float64) {
		p[name+suffix] = append(p[name+suffix], series{labels: labelsOf(m), value: v, grows: grows})
	}
	distribution := func(count uint64, sum float64) {
		put("", true, float64(count))
		put("_count", true, float64(count))
		put("_sum", true, sum)
	}
	switch of {
	case dto.MetricType_COUNTER:
		put("", true, m.GetCounter().GetValue())
	case dto.MetricType_GAUGE:
		put("", false, m.GetGauge().GetValue())
	case dto.MetricType_HISTOGRAM:
		h := m.GetHistogram()
		distribution(h.GetSampleCount(), h.GetSampleSum())
		for _, b := range h.Bucket {
			one := series{value: float64(b.GetCumulativeCount()), grows: true}
			one.labels = with(labelsOf(m), bucketLabel, b.GetUpperBound())
			p[name+"_bucket"] = append(p[name+"_bucket"], one)
		}
	case dto.MetricType_SUMMARY:
		s := m.GetSummary()
		distribution(s.GetSampleCount(), s.GetSampleSum())
		for _, q := range s.Quantile {
			one := series{value: q.GetValue(), quantile: true}
			one.labels = with(labelsOf(m), quantileLabel, q.GetQuantile())
			p[name] = append(p[name], one)
		}
	default:
		put("", counts(name), m.GetUntyped().GetValue())
	}
}

// counts reports whether a metric without a type is a counter by its name.
func counts(name string) bool {
	return slices.ContainsFunc(counterSuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

func with(labels map[string]string, name string, value float64) map[string]string {
	labels[name] = strconv.FormatFloat(value, 'g', -1, 64)
	return labels
}

// choose returns the series of a page that a metric is the sum of.
func (s selector) choose(from page) (sum float64, grows, any bool) {
	for _, one := range from[s.name] {
		if s.matches(one) {
			sum, grows, any = sum+one.value, one.grows, true
		}
	}
	return sum, grows, any
}

// counted returns the increase of a counter over the chosen series, or the sum of a gauge at the end; for a histogram
// or a summary the count. A counter that was absent before its first use was 0.
func (m *Observe) counted(before, after string) (float64, error) {
	s, err := readSelector(m.Prometheus)
	if err != nil {
		return 0, err
	}
	end, err := readPage(after)
	if err != nil {
		return 0, err
	}
	last, grows, ok := s.choose(end)
	switch {
	case !ok:
		return 0, s.absent(end)
	case !grows && !m.Difference:
		return last, nil
	}
	begin, err := readPage(before)
	if err != nil {
		return 0, fmt.Errorf("before the launch: %w", err)
	}
	first, _, _ := s.choose(begin)
	switch growth := last - first; {
	case growth < 0 && !grows:
		return 0, fmt.Errorf("it decreased from %v to %v, so it is no counter: leave difference out", first, last)
	case growth < 0:
		return 0, fmt.Errorf("it decreased from %v to %v: the service has reset it", first, last)
	case math.IsNaN(growth):
		return 0, fmt.Errorf("it changed from %v to %v", first, last)
	default:
		return growth, nil
	}
}

// absent says that a page lacks a series, and which ones it has.
func (s selector) absent(from page) error {
	if len(from) == 0 {
		return fmt.Errorf("/metrics has no %s; it is empty", s.text)
	}
	of := from[s.name]
	if of == nil {
		return fmt.Errorf("/metrics has no %s; it has %s", s.text,
			suggest.Few(s.name, slices.Sorted(maps.Keys(from)), ""))
	}
	var have []string
	for _, one := range of {
		have = append(have, s.name+labelText(one.labels))
	}
	slices.Sort(have)
	return fmt.Errorf("/metrics has no %s; it has %s", s.text, suggest.Few(s.text, have, ""))
}

func labelText(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, fmt.Sprintf("%s=%q", name, labels[name]))
	}
	return "{" + strings.Join(all, ",") + "}"
}
