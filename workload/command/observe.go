package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	dto "github.com/prometheus/client_model/go"

	"weir/quantity"
	"weir/workload"
)

// Observe is a metric that is read of a service: from its log, or from what it counts.
type Observe struct {
	Metric workload.Metric `json:"metric"`
	Log    string          `json:"log,omitempty"`   // a regular expression of lines
	Count  bool            `json:"count,omitempty"` // how many lines match; else the number in the last
	Name   string          `json:"name,omitempty"`  // of a metric of Prometheus
}

// Proof is what must be true of a service in each launch.
type Proof struct {
	Log string `json:"log"` // a regular expression that a line of its log matches, since its start
	// Pod is one that the name of the line's pod matches; "": any line will do.
	Pod string `json:"pod,omitempty"`
}

// ofPod is how a line of a service in a cluster begins: with the pod and container that it is of.
var ofPod = regexp.MustCompile(`^\[pod/([^/\]]+)/[^\]]*\] ?`)

// holds says whether a line of the log is the proof.
func (p *Proof) holds(log string) bool {
	want, pod := regexp.MustCompile(p.Log), regexp.MustCompile(p.Pod)
	for line := range strings.Lines(log) {
		name, text := apart(strings.TrimRight(line, "\r\n"))
		if (p.Pod == "" || name != "" && pod.MatchString(name)) && want.MatchString(text) {
			return true
		}
	}
	return false
}

// missing says that no line of the log is the proof.
func (p *Proof) missing() string {
	if p.Pod == "" {
		return fmt.Sprintf("no line of its log matches its proof %q", p.Log)
	}
	return fmt.Sprintf("no line of the log of a pod %q matches its proof %q", p.Pod, p.Log)
}

// apart takes the pod off a line of a log; "": it names none.
func apart(line string) (pod, text string) {
	if m := ofPod.FindStringSubmatch(line); m != nil {
		return m[1], line[len(m[0]):]
	}
	return "", line
}

// valueGroup names the number in a line.
const valueGroup = "value"

var (
	seriesName   = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]*$`)
	observedName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)
)

func readObserves(s *workload.Structured, path []string) ([]Observe, error) {
	if s == nil {
		return nil, nil
	}
	if s.Pairs == nil {
		return nil, workload.Wrong(path, "it is %s, not a mapping from metrics to where they are read", s.What())
	}
	var all []Observe
	for _, p := range s.Pairs {
		o, err := readObserve(p, append(slices.Clone(path), p.Key))
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

func readObserve(p workload.Pair, path []string) (Observe, error) {
	f := mapping(p.Value, path, "log", "count", "prometheus", "unit", "better", "doc")
	if f.err != nil {
		return Observe{}, f.err
	}
	o := Observe{Log: f.expression("log"), Count: f.text("count") == "true", Name: f.text("prometheus")}
	o.Metric = workload.Metric{
		Name: p.Key, Unit: f.text("unit"), Better: workload.Direction(f.text("better")), Doc: f.text("doc"),
		MayBeZero: true,
	}
	groups := 0
	if o.Log != "" && f.err == nil {
		groups = len(regexp.MustCompile(o.Log).SubexpNames()) - 1
	}
	switch text := f.text("count"); {
	case text != "" && text != "true" && text != "false":
		f.fail([]string{"count"}, "%q is neither true nor false", text)
	case (o.Log == "") == (o.Name == ""):
		f.fail(nil, "it is read from its log or from prometheus: give one of the two")
	case o.Count && o.Log == "":
		f.fail([]string{"count"}, "lines of a log are counted: give log")
	case o.Log != "" && !o.Count && groups == 0:
		f.fail([]string{"log"}, "no group tells the number of a line: write (?<%s>…), or count: true", valueGroup)
	case o.Name != "" && !seriesName.MatchString(o.Name):
		f.fail([]string{"prometheus"}, "%q is no name of a metric", o.Name)
	case !slices.Contains([]workload.Direction{workload.Higher, workload.Lower, workload.Neither}, o.Metric.Better):
		f.fail([]string{"better"}, "it is higher, lower or none, not %q", o.Metric.Better)
	}
	unit, known := quantity.UnitOf(o.Metric.Unit)
	switch {
	case !known:
		f.fail([]string{"unit"}, "there is no unit %q", o.Metric.Unit)
	case !observedName.MatchString(p.Key) || len(p.Key) > 100:
		f.fail(nil, "a metric is named by words of letters, digits and _ with dots between them")
	}
	o.Metric.Unit = unit.Symbol
	return o, f.err
}

func readProof(s *workload.Structured, path []string) (*Proof, error) {
	if s == nil {
		return nil, nil
	}
	f := mapping(s, path, "pod", "log")
	if f.err != nil {
		return nil, f.err
	}
	p := &Proof{Pod: f.expression("pod"), Log: f.expression("log")}
	if p.Log == "" {
		f.fail(nil, "it has no log, a regular expression that a line must match")
	}
	return p, f.err
}

// matching are the groups of the lines that an expression matches.
func matching(expression, text string) (all [][]string) {
	re := regexp.MustCompile(expression) // which was read with the service
	for line := range strings.Lines(text) {
		_, line = apart(strings.TrimRight(line, "\r\n"))
		if m := re.FindStringSubmatch(line); m != nil {
			all = append(all, m)
		}
	}
	return all
}

func (m *Observe) read(o workload.Observation) (float64, error) {
	if m.Name != "" {
		return counted(m.Name, o.Before, o.After)
	}
	lines := matching(m.Log, o.Log[min(o.From, len(o.Log)):])
	if m.Count {
		return float64(len(lines)), nil
	}
	if len(lines) == 0 {
		return 0, fmt.Errorf("no line of its log matches %q since the launch began", m.Log)
	}
	group := max(1, regexp.MustCompile(m.Log).SubexpIndex(valueGroup))
	v, err := strconv.ParseFloat(lines[len(lines)-1][group], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", lines[len(lines)-1][group])
	}
	return v, nil
}

// counted is by how much a counter grew, over all of its labels, or the sum of a gauge at the
// end. Of a histogram or a summary it is the count.
func counted(name, before, after string) (float64, error) {
	end, kind, err := sum(name, after)
	if err != nil || kind == dto.MetricType_GAUGE || kind == dto.MetricType_UNTYPED {
		return end, err
	}
	begin, _, err := sum(name, before)
	switch {
	case err != nil:
		return 0, fmt.Errorf("before the launch: %w", err)
	case end < begin:
		return 0, fmt.Errorf("it fell from %v to %v: the service counts anew", begin, end)
	}
	return end - begin, nil
}

func sum(name, page string) (float64, dto.MetricType, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		return 0, 0, fmt.Errorf("what it counts: %w", err)
	}
	family, ok := families[name]
	if !ok {
		return 0, 0, fmt.Errorf("it counts no %s", name)
	}
	total := 0.
	for _, m := range family.Metric {
		switch family.GetType() {
		case dto.MetricType_COUNTER:
			total += m.GetCounter().GetValue()
		case dto.MetricType_GAUGE:
			total += m.GetGauge().GetValue()
		case dto.MetricType_HISTOGRAM:
			total += float64(m.GetHistogram().GetSampleCount())
		case dto.MetricType_SUMMARY:
			total += float64(m.GetSummary().GetSampleCount())
		default:
			total += m.GetUntyped().GetValue()
		}
	}
	return total, family.GetType(), nil
}
