//go:build cgo

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/epcontrol"
)

// What the control plane of a group of 8 ranks may take, and how soon a death is known.
const (
	epRanks        = 8
	epLaunches     = 5 // of which the median is taken
	epDeaths       = 11
	cycleBound     = 20 * time.Second
	detectionBound = 100 * time.Millisecond
)

// connectBounds are those of connecting, by fabric.
var connectBounds = map[string]time.Duration{
	"tcp": 10 * time.Millisecond, "ucx": 10 * time.Millisecond, "shm": 20 * time.Millisecond,
}

// epRow is one line of the table.
type epRow struct {
	what         string
	values       []float64 // ms
	worst        bool      // the bound is of the largest, not of the median
	bound        time.Duration
	remark       string
	notAvailable string
}

func (r epRow) String() string {
	if r.notAvailable != "" {
		return fmt.Sprintf("| %s | – | – | ≤ %v | not measured: %s |\n", r.what, r.bound, r.notAvailable)
	}
	slices.Sort(r.values)
	middle, most := r.values[len(r.values)/2], r.values[len(r.values)-1]
	held := middle
	if r.worst {
		held = most
	}
	met := "yes"
	if held > ms(r.bound) {
		met = "**no**"
	}
	if r.remark != "" {
		met += "; " + r.remark
	}
	return fmt.Sprintf("| %s | %.2f ms | %.2f ms | ≤ %v | %s |\n", r.what, middle, most, r.bound, met)
}

// BenchmarkExpertParallel measures the control plane of a group of 8 ranks, and how soon survivors
// know of a death, with the program as users have it. Rows are added to the table of BenchmarkPeers.
func BenchmarkExpertParallel(b *testing.B) {
	program := built(b)
	for b.Loop() {
		var rows strings.Builder
		for _, fabric := range []string{"tcp", "ucx", "shm"} {
			row := connectRow(b, program, fabric)
			rows.WriteString(row.String())
		}
		rows.WriteString(cycleRow(b, program).String())
		for _, fabric := range []string{"tcp", "shm"} {
			rows.WriteString(deathRow(b, program, fabric).String())
		}
		keepTable(b, fmt.Sprintf("\n## Expert parallel: control plane and deaths\n\n%d ranks on this host. Connecting and the cycle: what ep_control measures; a death: detect.time of ep_elastic, until all survivors have masked the rank that was killed, %d deaths.\n\n"+
			"| what | median | most | bar | met |\n|---|---:|---:|---:|---|\n%s", epRanks, epDeaths, rows.String()))
		b.ReportMetric(0, "ns/op") // the time of the benchmark itself means nothing
	}
}

// epSession runs a scenario and gives its cases; why: it cannot run here.
func epSession(b *testing.B, program, scenario string) (cases []*results.Case, why string) {
	b.Helper()
	dir := b.TempDir()
	file, out := filepath.Join(dir, "ep.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		b.Fatal(err)
	}
	text, err := exec.Command(program, "run", file, "--out", out, "--quiet").CombinedOutput()
	doc, readErr := results.Read(filepath.Join(out, "results.json"))
	if readErr != nil {
		b.Fatalf("%v, %v\n%s", err, readErr, text)
	}
	for _, c := range doc.Cases {
		if missing, is := strings.CutPrefix(c.Reason, "missing: "); is {
			return nil, missing
		}
		if c.Status != results.OK {
			b.Fatalf("%s is %s: %s", c.Key, c.Status, c.Reason)
		}
	}
	return doc.Cases, ""
}

func connectRow(b *testing.B, program, fabric string) epRow {
	b.Helper()
	r := epRow{what: fmt.Sprintf("connecting over %s", fabric), bound: connectBounds[fabric]}
	cases, why := epSession(b, program, fmt.Sprintf(`scenario: connecting
runs:
  a:
    workload: ep_control
    launches: %d
    options: {fabric: %s, ranks: %d, tokens: 8, hidden: 1024, experts_per_rank: 8, rounds: 5, warmup: 1}
`, epLaunches, fabric, epRanks))
	r.notAvailable = why
	for _, c := range cases {
		for _, l := range c.Launches {
			r.values = append(r.values, 1000*l.Metrics.At("connect.avg"))
			addsUp(b, l)
		}
	}
	return r
}

// addsUp holds the steps of each operation to its time, and the operations to the total.
func addsUp(b *testing.B, l *results.Launch) {
	b.Helper()
	close := func(what string, sum, of float64) {
		if sum < 0.98*of || sum > 1.02*of {
			b.Errorf("%s: parts add up to %v of %v s", what, sum, of)
		}
	}
	all := 0.
	for _, o := range epcontrol.Operations() {
		sum := 0.
		for _, step := range epcontrol.StepsOf(o) {
			sum += l.Metrics.At(o + "." + step)
		}
		close(o, sum, l.Metrics.At(o+".avg"))
		all += l.Metrics.At(o + ".avg")
	}
	close("total", all, l.Metrics.At("total"))
}

// cycleRow is document 000's sweep, with as many tokens as its buffers have room for here.
func cycleRow(b *testing.B, program string) epRow {
	b.Helper()
	const hidden = 4096
	size := func(tokens int64) int64 {
		s := epcontrol.Spec{Ranks: epRanks, PerRank: 32, Tokens: tokens, Hidden: hidden}
		source, sink := s.Buffers()
		return epRanks * (source + sink)
	}
	tokens := int64(512)
	var here unix.Sysinfo_t
	if err := unix.Sysinfo(&here); err != nil {
		b.Fatal(err)
	}
	for free := int64(here.Freeram) * int64(here.Unit); tokens > 1 && size(tokens) > free/2; {
		tokens /= 2
	}
	began := time.Now()
	_, why := epSession(b, program, fmt.Sprintf(`scenario: cycle
runs:
  a:
    workload: ep_control
    launches: 1
    timeout: 5m
    options: {fabric: tcp, ranks: %d, tokens: %d, hidden: %d, rounds: 5}
    sweep: {experts_per_rank: [8, 32]}
`, epRanks, tokens, hidden))
	return epRow{
		what:   "the whole session: a cycle of 5 rounds with 8 and with 32 experts a rank",
		values: []float64{ms(time.Since(began))}, bound: cycleBound, notAvailable: why,
		remark: fmt.Sprintf("%d tokens, %.1f GB on all ranks with 32", tokens, float64(size(tokens))/1e9),
	}
}

func deathRow(b *testing.B, program, fabric string) epRow {
	b.Helper()
	r := epRow{what: fmt.Sprintf("a death over %s", fabric), worst: true, bound: detectionBound}
	cases, why := epSession(b, program, fmt.Sprintf(`scenario: deaths
runs:
  a:
    workload: ep_elastic
    launches: %d
    options:
      fabric: %s
      tokens: 32
      hidden: 1024
      top_k: 4
      iterations: 40
      phases: [{ranks: 0..%d}, {kill: 3}]
    assert: [wrong_tokens <= 0, mask.wrong <= 0]
`, epDeaths, fabric, epRanks-1))
	r.notAvailable = why
	for _, c := range cases {
		for _, l := range c.Launches {
			if l.Metrics.At("killed") > 0 {
				r.values = append(r.values, 1000*l.Metrics.At("detect.time"))
			}
		}
	}
	return r
}
