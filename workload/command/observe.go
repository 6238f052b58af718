package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/logwatch"
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
	Log string `json:"log,omitempty"` // a regular expression that a line of its log matches, since its start
	// Pod is one that the name of the line's pod matches; "": any line will do.
	Pod  string `json:"pod,omitempty"`
	File string `json:"file,omitempty"` // a text of package placeholder: a file that was written since its start
}

// check says what of a proof does not hold. seen is what was seen of its expression, if it has one.
func (p *Proof) check(seen logwatch.Match, o workload.Observation) error {
	var err error
	switch {
	case p.Log != "" && !seen.Ever && p.Pod != "":
		err = fmt.Errorf("no line of the log of a pod %q matches its proof %q", p.Pod, p.Log)
	case p.Log != "" && !seen.Ever:
		err = fmt.Errorf("no line of its log matches its proof %q", p.Log)
	case p.File != "" && o.Unproven != "":
		err = fmt.Errorf("its proof: %s", o.Unproven)
	default:
		return nil
	}
	if len(o.Tail) == 0 {
		return fmt.Errorf("%w; it printed nothing", err)
	}
	return fmt.Errorf("%w\nits log ends with:\n%s", err, strings.Join(o.Tail, "\n"))
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
	f := mapping(s, path, "pod", "log", "file")
	if f.err != nil {
		return nil, f.err
	}
	p := &Proof{Pod: f.expression("pod"), Log: f.expression("log"), File: f.late("file")}
	switch {
	case p.Log == "" && p.File == "":
		f.fail(nil, "it has no log, a regular expression that a line must match, and no file that must be there")
	case p.Log == "" && p.Pod != "":
		f.fail([]string{"pod"}, "pods have lines of a log: give log")
	}
	return p, f.err
}

// times says whether the metric is the time of a line.
func (m *Observe) times() bool { return m.First || m.Last }

func (m *Observe) read(seen logwatch.Match, o workload.Observation) (float64, error) {
	switch {
	case m.Name != "":
		return m.counted(o.Before, o.After)
	case m.Count:
		return float64(seen.Count), nil
	case seen.Count == 0, m.times() && seen.First.IsZero():
		return 0, fmt.Errorf("no line of its log matches %q since the launch began", m.Log)
	case m.First:
		return max(0, seen.First.Sub(o.Began).Seconds()), nil
	case m.Last:
		return max(0, seen.Last.Sub(o.Began).Seconds()), nil
	}
	re := regexp.MustCompile(m.Log) // which was read with the service
	groups := re.FindStringSubmatch(seen.Text)
	group := max(1, re.SubexpIndex(valueGroup))
	if groups == nil {
		return 0, fmt.Errorf("%q does not match %q", seen.Text, m.Log)
	}
	v, err := strconv.ParseFloat(groups[group], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", groups[group])
	}
	return v, nil
}
