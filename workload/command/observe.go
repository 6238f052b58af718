package command

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

// Observe is a metric of a service, from its log or from its /metrics.
type Observe struct {
	Name       string `key:"*"`
	Log        string `key:"log,regexp"` // matches lines
	Count      bool   `key:"count"`      // number of matching lines; else the number in the last one
	First      bool   `key:"first"`      // time of the first matching line
	Last       bool   `key:"last"`       // time of the last matching line
	Prometheus string `key:"prometheus"` // a Prometheus metric, and labels of its series
	GPU        string `key:"gpu"`        // memory: the most memory in use of a GPU of its node
	Opens      string `key:"opens"`      // a pattern: how many such files its processes have open
	// Difference declares a metric without a type to be a counter.
	Difference bool               `key:"difference"`
	Unit       string             `key:"unit"`
	Better     workload.Direction `key:"better"`
	Doc        string             `key:"doc"`
}

// metric returns the definition of the metric.
func (m *Observe) metric() workload.Metric {
	return workload.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Doc: m.Doc, MayBeZero: true}
}

// Proof is a condition that a service must meet in each launch.
type Proof struct {
	Pod  string `key:"pod,regexp"` // matches the name of the line's pod; "": any
	Log  string `key:"log,regexp"` // matches a line of its log since its start
	File string `key:"file,late"`  // must have been written since its start
}

// check fails if the proof is missing. seen is the match of its expression, if any.
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

// valueGroup is the name of the group with the number of a line.
const valueGroup = "value"

var observedName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// Check validates a metric.
func (m *Observe) Check(d *structure.Decoder) {
	switch {
	case d.Given("unit"):
	case m.times():
		m.Unit = "s"
	case m.GPU != "":
		m.Unit = "B"
	}
	groups, ways := 0, 0
	for _, is := range []bool{m.Count, m.First, m.Last} {
		if is {
			ways++
		}
	}
	if m.Log != "" {
		groups = len(regexp.MustCompile(m.Log).SubexpNames()) - 1
	}
	switch {
	case ways > 1:
		d.Fail("it is one of count, first and last")
	case m.times() && m.Log == "":
		d.Fail("lines of a log have times: give log")
	case m.times() && m.Unit != "s":
		d.At("unit").Fail("the time of a line is in s")
	case m.sources() != 1:
		d.Fail("it has one source: give log, prometheus, gpu or opens")
	case m.GPU != "" && m.GPU != gpuMemory:
		d.At("gpu").Fail("of GPUs there is %s, not %q", gpuMemory, m.GPU)
	case m.GPU != "" && m.Unit != "B":
		d.At("unit").Fail("memory of GPUs is in B")
	case m.Opens != "" && !validPattern(m.Opens):
		d.At("opens").Fail("%q is no absolute path with patterns, as /dev/infiniband/uverbs*", m.Opens)
	case m.Count && m.Log == "":
		d.At("count").Fail("lines of a log are counted: give log")
	case m.Log != "" && ways == 0 && groups == 0:
		d.At("log").Fail("no group has the number of a line: write (?<%s>…), or count, first or last: true",
			valueGroup)
	case m.Prometheus == "" && m.Difference:
		d.At("difference").Fail("metrics of prometheus are differences: give prometheus")
	case m.Prometheus != "" && selectorError(m.Prometheus) != nil:
		d.At("prometheus").Fail("%w", selectorError(m.Prometheus))
	case !slices.Contains([]workload.Direction{workload.Higher, workload.Lower, workload.Neither}, m.Better):
		d.At("better").Fail("it is higher, lower or none, not %q", m.Better)
	}
	unit, known := quantity.UnitOf(m.Unit)
	switch {
	case !known:
		d.At("unit").Fail("there is no unit %q", m.Unit)
	case !observedName().MatchString(m.Name) || len(m.Name) > 100:
		d.Fail("a metric is named by words of letters, digits and _ with dots between them")
	}
	m.Unit = unit.Symbol
}

// Check validates a proof.
func (p *Proof) Check(d *structure.Decoder) {
	switch {
	case p.Log == "" && p.File == "":
		d.Fail("it has no log, a regular expression that a line must match, and no file that must be there")
	case p.Log == "" && p.Pod != "":
		d.At("pod").Fail("pods have lines of a log: give log")
	}
}

// gpuMemory is the value of gpu.
const gpuMemory = "memory"

// sources returns the number of sources that the metric names.
func (m *Observe) sources() (n int) {
	for _, source := range []string{m.Log, m.Prometheus, m.GPU, m.Opens} {
		if source != "" {
			n++
		}
	}
	return n
}

func validPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil && path.IsAbs(pattern)
}

// times reports whether the metric is the time of a line.
func (m *Observe) times() bool { return m.First || m.Last }

// absent reports whether no line of the log had the metric in a launch.
func (m *Observe) absent(seen logwatch.Match) bool { return m.Log != "" && !m.Count && seen.Count == 0 }

// read returns the metric of a launch: seen is the match of its log, and opens are the patterns that were sampled.
func (m *Observe) read(seen logwatch.Match, opens []string, o workload.Observation) (float64, error) {
	switch {
	case m.Opens != "":
		return opened(o.Samples, slices.Index(opens, m.Opens))
	case m.GPU != "" && o.Samples.NoMemory != "":
		return 0, errors.New(o.Samples.NoMemory)
	case m.GPU != "":
		return float64(o.Samples.GPUMemory), nil
	case m.Prometheus != "":
		return m.counted(o.Before, o.After)
	case m.Count:
		return float64(seen.Count), nil
	case m.times() && seen.First.IsZero():
		return 0, errors.New("the lines of its log have no times")
	case m.First:
		return max(0, seen.First.Sub(o.Began).Seconds()), nil
	case m.Last:
		return max(0, seen.Last.Sub(o.Began).Seconds()), nil
	}
	re := regexp.MustCompile(m.Log) // validated with the service
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
