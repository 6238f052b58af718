package ctperftest

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
)

// Scenario returns a config as a weir scenario in canonical YAML: one run of workload traffic or
// traffic_sequence. Paths of matrices are relative to base, the directory of the scenario, if they
// are in it. A sequence must satisfy OneMemory.
func (c *Config) Scenario(base string) []byte {
	w := &scenarioWriter{base: base}
	program := "ct-perftest"
	if c.Sequence {
		program = "sequential-ct-perftest"
	}
	w.line(0, "scenario: %s", scenarioName(c.File))
	w.line(0, "description: %s", literal("as "+program+" runs "+filepath.Base(c.File)))
	w.line(0, "")
	w.line(0, "runs:")
	if c.Sequence {
		w.sequence(c)
	} else {
		w.single(c)
	}
	return w.out.Bytes()
}

// OneMemory returns an error if the patterns of a sequence use different memory: weir's ranks have
// all their buffers in one kind.
func (c *Config) OneMemory() error {
	for i, p := range c.Patterns {
		if p.Memory != c.Patterns[0].Memory {
			return fmt.Errorf("pattern %d of %s has its buffers in %s, but the first has them in %s; a sequence can have only one kind of memory, since its ranks register their buffers once. Split the file, give all patterns the same mem_type, or import them with --memory dram",
				i, c.File, p.Memory, c.Patterns[0].Memory)
		}
	}
	return nil
}

type scenarioWriter struct {
	out  bytes.Buffer
	base string
}

func (w *scenarioWriter) line(indent int, format string, args ...any) {
	w.out.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.out, format+"\n", args...)
}

func (w *scenarioWriter) single(c *Config) {
	p := c.Patterns[0]
	w.line(1, "traffic:")
	w.line(2, "workload: traffic")
	w.line(2, "options:")
	w.matrix(3, &p)
	w.line(3, "op: %s", p.Op)
	w.memory(c)
	w.shards(3, &p)
	w.line(3, "iterations: %d", c.Iterations)
	w.line(3, "warmup: %d", c.Warmup)
}

func (w *scenarioWriter) sequence(c *Config) {
	w.line(1, "sequence:")
	w.line(2, "workload: traffic_sequence")
	w.line(2, "options:")
	first := c.Patterns[0]
	oneOp := !slices.ContainsFunc(c.Patterns, func(p Pattern) bool { return p.Op != first.Op })
	if oneOp {
		w.line(3, "op: %s", first.Op)
	}
	w.memory(c)
	w.line(3, "iterations: %d", c.Iterations)
	w.line(3, "warmup: 0") // the program warms up patterns, not the sequence
	w.line(3, "isolated_iterations: %d", c.Isolated)
	w.line(3, "isolated_warmup: %d", c.Warmup)
	w.line(3, "overlap: true") // the program orders patterns only if they share ranks
	w.line(3, "patterns:")
	for i := range c.Patterns {
		p := &c.Patterns[i]
		at := w.out.Len()
		w.matrix(5, p)
		w.out.Bytes()[at+8] = '-' // two columns before the first key
		if p.SleepBefore > 0 {
			w.line(5, "sleep_before_launch: %s", duration(p.SleepBefore))
		}
		if p.SleepAfter > 0 {
			w.line(5, "sleep_after_launch: %s", duration(p.SleepAfter))
		}
		if len(p.Metadata) > 0 {
			var fields []string
			for _, f := range p.Metadata {
				fields = append(fields, yamlText(f.Key)+": "+literal(f.Value))
			}
			w.line(5, "metadata: {%s}", strings.Join(fields, ", "))
		}
		if !oneOp {
			w.line(5, "op: %s", p.Op)
		}
		w.shards(5, p)
	}
	w.line(2, "assert:  # the median, so that one delayed iteration does not decide it")
	w.line(3, "- {name: congestion, that: slowdown.p50 <= %d}", mostSlowdown)
}

// mostSlowdown is the maximum slowdown of a pattern in an imported sequence, relative to its
// isolated time. As in the catalogue, ranks that share processors satisfy it. Ranks with their own
// cores stay near 1.
const mostSlowdown = 50

// memory writes the memory of the first pattern, which all share (see OneMemory).
func (w *scenarioWriter) memory(c *Config) {
	note := ""
	if c.elsewhere != "" {
		note = "  # the file has " + c.elsewhere
	}
	w.line(3, "memory: %s%s", c.Patterns[0].Memory, note)
}

func (w *scenarioWriter) shards(indent int, p *Pattern) {
	if p.Shards > 1 {
		w.line(indent, "shards: %d", p.Shards)
	}
}

func (w *scenarioWriter) matrix(indent int, p *Pattern) {
	if p.File != "" {
		w.line(indent, "matrix_file: %s", literal(w.path(p.File)))
		return
	}
	w.line(indent, "matrix:")
	for from := range p.Matrix.Ranks() {
		w.line(indent+1, "- [%s]", strings.Join(row(p.Matrix, from), ", "))
	}
}

func row(m *matrix.Matrix, from int) []string {
	cells := make([]string, m.Ranks())
	for to := range cells {
		cells[to] = matrix.Exact(m.At(from, to))
	}
	return cells
}

func (w *scenarioWriter) path(file string) string {
	base, err := filepath.Abs(w.base)
	if err != nil {
		return file
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if relative, err := filepath.Rel(base, absolute); err == nil && filepath.IsLocal(relative) {
		return filepath.ToSlash(relative)
	}
	return absolute
}

// escape escapes what a scenario would read as an expression.
var escape = strings.NewReplacer("${", "$${", "%{", "%%{")

// literal formats a text as a value of a scenario.
func literal(text string) string { return yamlText(escape.Replace(text)) }

// duration formats a time in seconds to the nanosecond.
func duration(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64) + "s"
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// scenarioName derives a name from the file, or from its directory for metadata.yaml.
func scenarioName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if filepath.Base(file) == MetadataFile {
		if absolute, err := filepath.Abs(file); err == nil {
			name = filepath.Base(filepath.Dir(absolute))
		}
	}
	name = strings.Trim(notInNames.ReplaceAllString(name, "-"), "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "traffic-" + name
	}
	return strings.Trim(name, "-")
}
