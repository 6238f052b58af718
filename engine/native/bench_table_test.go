//go:build weirtest

package native

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/quantity"
)

// The table written by `make bench`: what was compared, on what, and which bars are met.

// barTolerance is the tolerance of a bar of 1: the ratio of pairs has that error.
const barTolerance = 0.02

// bar is the bound of a ratio, weir's value over the peer's.
type bar struct {
	bound   float64
	atLeast bool // the bound is a minimum
}

func (r bar) met(ratio float64) bool {
	slack := 0.
	if r.bound == 1 {
		slack = barTolerance
	}
	if r.atLeast {
		return ratio >= r.bound-slack
	}
	return ratio <= r.bound+slack
}

// decided returns whether the interval of the median lies on one side of the bar.
func (r bar) decided(ratios []float64) bool {
	if r == (bar{}) {
		return true
	}
	low, high := medianInterval(ratios)
	return r.met(low) == r.met(high)
}

func (r bar) String() string {
	if r == (bar{}) {
		return "–"
	}
	if r.atLeast {
		return fmt.Sprintf("≥ %.2f", r.bound)
	}
	return fmt.Sprintf("≤ %.2f", r.bound)
}

type benchRow struct {
	section, what string
	size          quantity.Size
	weir, peer    float64 // medians
	unit          string
	ours, theirs  []float64 // of pairs
	ratios        []float64
	bar           bar
	remark        string
}

func (r *benchRow) met() string {
	if r.bar == (bar{}) {
		return "–"
	}
	met := "**no**"
	if r.bar.met(median(r.ratios)) {
		met = "yes"
	}
	if !r.bar.decided(r.ratios) {
		met += ", not decided"
	}
	return met
}

// benchTable is written again after each row, so that an interrupted run leaves its results.
type benchTable struct {
	path     string
	pairs    int
	cpus     [2]int
	begun    time.Time
	load     string
	rows     []*benchRow
	notes    map[string][]string // by section
	absent   []string
	versions []string
}

func newTable(pairs int, cpus [2]int) *benchTable {
	path := os.Getenv("BENCH_OUT")
	if path == "" {
		path = filepath.Join("..", "..", ".build", "bench.md")
	}
	return &benchTable{
		path: path, pairs: pairs, cpus: cpus, begun: time.Now(), load: loadAverage(), notes: map[string][]string{},
		versions: versions(),
	}
}

// note adds a line below a section, once.
func (t *benchTable) note(section, line string) {
	if !slices.Contains(t.notes[section], line) {
		t.notes[section] = append(t.notes[section], line)
	}
}

func (t *benchTable) write(b *testing.B) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		b.Fatal(err)
	}
	err := errors.Join(os.WriteFile(t.path, []byte(t.markdown()), 0o644),
		os.WriteFile(strings.TrimSuffix(t.path, ".md")+".csv", []byte(t.csv()), 0o644))
	if err != nil {
		b.Fatal(err)
	}
}

// csv returns each pair of each row, as raw data.
func (t *benchTable) csv() string {
	var s strings.Builder
	s.WriteString("section,what,bytes,unit,pair,weir,peer\n")
	for _, r := range t.rows {
		for i := range r.ratios {
			fmt.Fprintf(&s, "%s,%s,%d,%s,%d,%g,%g\n", r.section, r.what, int64(r.size), r.unit, i+1, r.ours[i],
				r.theirs[i])
		}
	}
	return s.String()
}

func (t *benchTable) markdown() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# weir beside its peers\n\n%s, %s; pairs on %d and %d. Load average before %s, after %s.\n",
		t.begun.Format("2 January 2006 15:04"), machine(), t.cpus[0], t.cpus[1], t.load, loadAverage())
	if busy(t.load) {
		s.WriteString("\n**The machine was not idle when this began: single ratios may be off.**\n")
	}
	fmt.Fprintf(&s, "\n%s.\n\nMedians of %d pairs, the first of each pair alternating, and of up to %d where the interval (98 %% or more, of the median) has the bar in it: such a row is not decided. "+
		"A ratio is weir's value over the peer's; a bar of 1 is met within %g.\n", strings.Join(t.versions, " · "),
		t.pairs, mostPairs*t.pairs, barTolerance)
	for _, line := range t.absent {
		fmt.Fprintf(&s, "\nNot compared: %s.\n", line)
	}
	for i, r := range t.rows {
		if i == 0 || t.rows[i-1].section != r.section {
			t.beginSection(&s, r.section)
		}
		if len(r.ratios) == 0 {
			fmt.Fprintf(&s, "| %s | %v | | | | | %v | no result: %s |\n", r.what, r.size, r.bar, r.remark)
			continue
		}
		low, high := medianInterval(r.ratios)
		fmt.Fprintf(&s, "| %s | %v | %s %s | %s %s | **%.3g** | %.3g–%.3g | %v | %s%s |\n", r.what, r.size,
			digits(r.weir), r.unit, digits(r.peer), r.unit, median(r.ratios), low, high, r.bar, r.met(),
			prefixed("; ", r.remark))
	}
	return s.String()
}

func (t *benchTable) beginSection(s *strings.Builder, name string) {
	fmt.Fprintf(s, "\n## %s\n\n", name)
	for _, line := range t.notes[name] {
		fmt.Fprintf(s, "%s\n\n", line)
	}
	s.WriteString("| what | size | weir | peer | ratio | interval | bar | met |\n|---|---:|---:|---:|---:|---:|---:|---|\n")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func digits(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// medianInterval returns an interval that covers the median with a probability of at least 98 %, whatever the
// distribution: the narrowest pair of order statistics, by the binomial distribution of how many lie below it
// (David and Nagaraja, Order Statistics, 7.1). With fewer than seven values the interval is their range.
func medianInterval(v []float64) (low, high float64) {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	below := distuv.Binomial{N: float64(len(s)), P: 0.5}
	i := 0
	for ; 2*(i+1) < len(s) && 1-2*below.CDF(float64(i+1)) >= 0.98; i++ {
	}
	return s[i], s[len(s)-1-i]
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func busy(load string) bool {
	var v float64
	_, err := fmt.Sscan(load, &v)
	return err == nil && v > 0.5
}

// machine describes the machine that the ratios were measured on.
func machine() string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d processors, Linux %s", model, runtime.NumCPU(), strings.TrimSpace(string(kernel)))
}

// versions returns those of weir, of the libraries it loads, and of the peers.
func versions() []string {
	own := os.Getenv("BENCH_VERSION") // for a benchmark copied without its repository
	if own == "" {
		own = strings.TrimSpace(output("git", "describe", "--tags", "--always", "--dirty"))
	}
	list := []string{"weir " + own}
	probed := native{}.Probe([]string{"ucx", "libfabric"})
	for name, label := range map[string]string{"ucx": "UCX", "libfabric": "libfabric"} {
		if f := probed[name]; f.Available {
			list = append(list, label+" "+f.Version)
		}
	}
	slices.Sort(list[1:])
	if first, _, ok := strings.Cut(output("iperf3", "--version"), " ("); ok {
		list = append(list, first)
	}
	libc, _, _ := strings.Cut(output("ldd", "--version"), "\n")
	return append(list, libc, runtime.Version())
}

func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output() // missing tools have no version
	return string(out)
}

// A row is decided when the interval of its median is on one side of the bar, not the median alone.
func TestRowsAreDecided(t *testing.T) {
	spread := func(n int, from, to float64) (v []float64) {
		for i := range n {
			v = append(v, from+(to-from)*float64(i)/float64(n-1))
		}
		return v
	}
	for _, c := range []struct {
		bar    bar
		ratios []float64
		want   string
	}{
		{bar{1, true}, spread(11, 1.0, 1.2), "yes"},
		{bar{1, true}, spread(11, 0.7, 1.2), "**no**, not decided"},
		{bar{1, true}, spread(11, 0.97, 1.2), "yes"}, // the minimum of eleven is outside the interval
		{bar{1, true}, spread(7, 0.97, 1.2), "yes, not decided"},
		{bar{1, true}, spread(33, 0.8, 1.0), "**no**"},
		{bar{0.5, false}, spread(11, 0.3, 0.49), "yes"},
		{bar{0.5, false}, spread(11, 0.51, 0.8), "**no**"},
		{bar{}, spread(3, 0.5, 2), "–"},
	} {
		if got := (&benchRow{bar: c.bar, ratios: c.ratios}).met(); got != c.want {
			low, high := medianInterval(c.ratios)
			t.Errorf("%v to %v against %v: %q, want %q (interval %v to %v)", c.ratios[0], c.ratios[len(c.ratios)-1],
				c.bar, got, c.want, low, high)
		}
	}
	for n, at := range map[int]int{7: 0, 10: 0, 11: 1, 33: 9} { // 33: P(B <= 9) = 0.007, P(B <= 10) = 0.018
		if low, high := medianInterval(spread(max(n, 2), 0, float64(max(n, 2)-1))); n > 1 &&
			(low != float64(at) || high != float64(n-1-at)) {
			t.Errorf("of %d the interval is %v to %v, want from number %d", n, low, high, at)
		}
	}
}
