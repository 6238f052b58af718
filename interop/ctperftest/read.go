package ctperftest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// readSource reads a YAML file, or a matrix with a line to show.
func readSource(path string) ([]byte, error) { return bounded.ReadFile(path, bounded.Text) }

// Read reads a YAML file of either program, or the metadata.yaml of a directory, with all matrices
// that it names. The config is nil if and only if there are errors; there may also be warnings.
// files has the text of every file in a diagnostic.
func Read(path string) (c *Config, files map[string]*hcl.File, diags hcl.Diagnostics) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, MetadataFile)
	}
	return read(path, readSource, openRegular)
}

// ReadWith is Read with a function that reads files. The path is that of a file.
func ReadWith(path string, source func(path string) ([]byte, error)) (c *Config, files map[string]*hcl.File,
	diags hcl.Diagnostics) {
	return read(path, source, func(path string) (io.ReadCloser, error) {
		src, err := source(path)
		return io.NopCloser(bytes.NewReader(src)), err
	})
}

func read(path string, source func(path string) ([]byte, error),
	open func(path string) (io.ReadCloser, error)) (c *Config, files map[string]*hcl.File, diags hcl.Diagnostics) {
	src, err := source(path)
	if err != nil {
		return nil, nil, hcl.Diagnostics{
			{
				Severity: hcl.DiagError, Summary: "Cannot read the file",
				Detail: "Reading a file of ct-perftest: " + unreadable(path, err) + ".",
			},
		}
	}
	r := &reader{
		file: path, source: source, openFile: open, files: map[string]*hcl.File{path: {Bytes: src}},
		said: map[string]bool{}, matrices: map[string]*matrix.Matrix{},
	}
	top, diags := yamlsyntax.ParsePlain(src, path)
	if top == nil {
		return nil, r.files, diags
	}
	c = r.config(top)
	if r.diags.HasErrors() {
		return nil, r.files, r.diags
	}
	return c, r.files, r.diags
}

type reader struct {
	source   func(path string) ([]byte, error)
	openFile func(path string) (io.ReadCloser, error) // a matrix may be too large to be read at once
	file     string
	files    map[string]*hcl.File
	diags    hcl.Diagnostics
	said     map[string]bool           // warnings already given for all patterns
	matrices map[string]*matrix.Matrix // by path; nil: the file is wrong
	ranks    int                       // of the first matrix
}

func (r *reader) error(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}

// warnOnce reports a warning at its first place only.
func (r *reader) warnOnce(at hcl.Range, summary, format string, args ...any) {
	if !r.said[summary] {
		r.said[summary] = true
		r.diags = append(r.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
		})
	}
}

// keys returns the values of a mapping by key, and warns of unknown keys, which the programs
// ignore.
func (r *reader) keys(n *yamlsyntax.Node, what string, known []string) map[string]yamlsyntax.Pair {
	if n.Kind != yamlsyntax.Mapping {
		r.error(n.Range, "Not a mapping", "%s is a mapping of keys to values.", what)
		return nil
	}
	out := map[string]yamlsyntax.Pair{}
	for _, p := range n.Pairs {
		out[p.Key] = p
		if !slices.Contains(known, p.Key) {
			r.warnOnce(p.KeyRange, fmt.Sprintf("Unknown key %q", p.Key), "It is skipped. %s",
				suggest.Sentence(p.Key, known, "keys here"))
		}
	}
	return out
}

func (r *reader) config(top *yamlsyntax.Node) *Config {
	keys := r.keys(top, "The file", []string{
		"iters", "warmup_iters", "isolation_iters", "traffic_pattern", "traffic_patterns",
	})
	one, isOne := keys["traffic_pattern"]
	many, isMany := keys["traffic_patterns"]
	c := &Config{File: r.file, Sequence: isMany}
	switch {
	case isOne && isMany:
		r.error(one.KeyRange, "Two kinds of file",
			"traffic_pattern is of ct-perftest and traffic_patterns of sequential-ct-perftest: keep one of them.")
	case isOne:
		c.Iterations, c.Warmup = r.count(keys, "iters", 1, defaultIterations), r.count(keys, "warmup_iters", 0, 0)
		r.patterns(c, []*yamlsyntax.Node{one.Value})
	case isMany && (many.Value.Kind != yamlsyntax.Sequence || len(many.Value.Items) == 0):
		r.error(many.KeyRange, "No patterns", "traffic_patterns is a list of at least one pattern.")
	case isMany:
		c.Iterations, c.Warmup = r.count(keys, "iters", 1, defaultSequenceIterations),
			r.count(keys, "warmup_iters", 0, defaultSequenceWarmup)
		c.Isolated = r.count(keys, "isolation_iters", 0, defaultIsolated)
		r.patterns(c, many.Value.Items)
	case keys != nil:
		at := top.Range
		at.End = at.Start
		r.error(at, "No traffic", "The file has neither traffic_pattern, as those of ct-perftest, nor traffic_patterns, as those of sequential-ct-perftest.")
	}
	return c
}

var patternKeys = []string{
	"matrix_file", "matrix", "tp_file", "shards", "mem_type", "xfer_op",
	"sleep_before_launch_sec", "sleep_after_launch_sec", "decode_compute_sec", "metadata", "storage",
}

func (r *reader) patterns(c *Config, nodes []*yamlsyntax.Node) {
	for _, n := range nodes {
		keys := r.keys(n, "A pattern", patternKeys)
		if keys == nil {
			continue
		}
		p := Pattern{Shards: r.count(keys, "shards", 1, 1)}
		p.Memory = r.word(keys, "mem_type", map[string]string{"cuda": "vram", "vram": "vram", "cpu": "dram",
			"dram": "dram"}, "cuda")
		if said, ok := keys["mem_type"]; ok {
			p.Said = said.Value.Range
		}
		p.Op = r.word(keys, "xfer_op", map[string]string{"write": "write", "read": "read"}, "write")
		p.SleepBefore = r.seconds(keys, "sleep_before_launch_sec")
		p.SleepAfter = r.sleepAfter(keys)
		p.Metadata = r.metadata(keys)
		r.differences(keys, &p, c.Sequence)
		r.matrix(n, keys, &p)
		c.Patterns = append(c.Patterns, p)
	}
}

// differences warns where the programs behave differently from the file. It does not mention that
// early versions of sequential-ct-perftest ignore sleep_before_launch_sec, since later versions do
// not.
func (r *reader) differences(keys map[string]yamlsyntax.Pair, p *Pattern, sequence bool) {
	if p.Op == "read" {
		r.warnOnce(keys["xfer_op"].Value.Range, "ct-perftest writes here",
			"It always writes, regardless of xfer_op; weir reads, so they measure different things.")
	}
	if p.Shards > 1 {
		r.warnOnce(keys["shards"].Value.Range, "ct-perftest has no shards",
			"It moves each buffer in one piece, regardless of shards; weir moves it in %d.", p.Shards)
	}
	for _, key := range []string{
		"sleep_before_launch_sec", "sleep_after_launch_sec", "decode_compute_sec", "metadata",
	} {
		if unused, ok := keys[key]; ok && !sequence {
			r.warnOnce(unused.KeyRange, fmt.Sprintf("%s is of sequences", key),
				"It is ignored: ct-perftest repeats its one pattern without it.")
		}
	}
}

// sleepAfter reads the sleep, which has an older and a newer name.
func (r *reader) sleepAfter(keys map[string]yamlsyntax.Pair) float64 {
	_, old := keys["sleep_after_launch_sec"]
	if p, both := keys["decode_compute_sec"]; both && old {
		r.error(p.KeyRange, "Two names of one time",
			"decode_compute_sec is the newer name of sleep_after_launch_sec: keep one of them.")
	}
	if old {
		return r.seconds(keys, "sleep_after_launch_sec")
	}
	return r.seconds(keys, "decode_compute_sec")
}

// unreadable says why a file cannot be read.
func unreadable(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return path + " does not exist"
	}
	return err.Error()
}
