package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/quantity"
	"weir/workload"
)

// Observe is a metric that is read of a service: from its log, or from what it counts.
type Observe struct {
	Metric workload.Metric `json:"metric"`
	Log    string          `json:"log,omitempty"`   // a regular expression of lines
	Count  bool            `json:"count,omitempty"` // how many lines match; else the number in the last
	First  bool            `json:"first,omitempty"` // when the first line came that matches
	Last   bool            `json:"last,omitempty"`  // when the last one came
	Name   string          `json:"name,omitempty"`  // of a metric of Prometheus, and labels of its series
	// Difference says that a metric whose type the page does not tell is a counter.
	Difference bool `json:"difference,omitempty"`
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

var observedName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

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
	f := mapping(p.Value, path, "log", "count", "first", "last", "prometheus", "difference", "unit", "better", "doc")
	if f.err != nil {
		return Observe{}, f.err
	}
	o := Observe{
		Log:   f.expression("log"),
		Count: f.flag("count"),
		First: f.flag("first"),
		Last:  f.flag("last"),
		Name:  f.text("prometheus"),

		Difference: f.flag("difference"),
	}
	o.Metric = workload.Metric{
		Name: p.Key, Unit: f.text("unit"), Better: workload.Direction(f.text("better")), Doc: f.text("doc"),
		MayBeZero: true,
	}
	if o.times() && f.get("unit") == nil {
		o.Metric.Unit = "s"
	}
	groups, ways := 0, 0
	for _, is := range []bool{o.Count, o.First, o.Last} {
		if is {
			ways++
		}
	}
	if o.Log != "" && f.err == nil {
		groups = len(regexp.MustCompile(o.Log).SubexpNames()) - 1
	}
	switch {
	case ways > 1:
		f.fail(nil, "it is one of count, first and last")
	case o.times() && o.Log == "":
		f.fail(nil, "lines of a log have times: give log")
	case o.times() && o.Metric.Unit != "s":
		f.fail([]string{"unit"}, "the time of a line is in s")
	case (o.Log == "") == (o.Name == ""):
		f.fail(nil, "it is read from its log or from prometheus: give one of the two")
	case o.Count && o.Log == "":
		f.fail([]string{"count"}, "lines of a log are counted: give log")
	case o.Log != "" && ways == 0 && groups == 0:
		f.fail(
			[]string{"log"},
			"no group tells the number of a line: write (?<%s>…), or count, first or last: true",
			valueGroup,
		)
	case o.Name == "" && o.Difference:
		f.fail([]string{"difference"}, "metrics of prometheus are differences: give prometheus")
	case o.Name != "" && selectorError(o.Name) != nil:
		f.fail([]string{"prometheus"}, "%w", selectorError(o.Name))
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

// times says whether the metric is the time of a line.
func (m *Observe) times() bool { return m.First || m.Last }

// stamp takes the time off a line of a log whose lines have it.
func stamp(line string) (at time.Time, text string, ok bool) {
	first, text, found := strings.Cut(line, " ")
	at, err := time.Parse(workload.StampLayout, first)
	return at, text, found && err == nil
}

// time is when the first or the last line came that matches, in seconds since the launch began.
func (m *Observe) time(log string, began time.Time) (float64, error) {
	re := regexp.MustCompile(m.Log) // which was read with the service
	var found *time.Time
	for line := range strings.Lines(log) {
		at, text, ok := stamp(strings.TrimRight(line, "\r\n"))
		if _, text = apart(text); ok && re.MatchString(text) {
			if found == nil || m.Last {
				found = &at
			}
		}
	}
	if found == nil {
		return 0, fmt.Errorf("no line of its log matches %q since the launch began", m.Log)
	}
	return max(0, found.Sub(began).Seconds()), nil
}

// unstamped is a log without the times of its lines.
func unstamped(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if _, text, ok := stamp(line); ok {
			line = text
		}
		b.WriteString(line)
	}
	return b.String()
}

func (m *Observe) read(o workload.Observation) (float64, error) {
	if m.Name != "" {
		return m.counted(o.Before, o.After)
	}
	since := o.Log[min(o.From, len(o.Log)):]
	if m.times() {
		return m.time(since, o.Began)
	}
	lines := matching(m.Log, since)
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
