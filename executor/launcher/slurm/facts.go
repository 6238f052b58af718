package slurm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/shortage"
)

// Wanted is what a check asks of Slurm's nodes.
type Wanted struct {
	Partition string // "": any
	Features  []string
	GRES      map[string]string // amounts of generic resources, by name or name:type
	Nodes     int               // that can work and have all of that
}

// facts is the format of sinfo, a line for each node of each partition: name, partition, state, active features,
// generic resources.
const facts = "%N|%R|%T|%b|%G"

// Lacks asks Slurm, and describes what its nodes lack.
func Lacks(ctx context.Context, w Wanted) ([]string, error) {
	argv := []string{"sinfo", "--noheader", "--Node", "--format=" + facts}
	if w.Partition != "" {
		argv = append(argv, "--partition="+w.Partition)
	}
	out, err := run(ctx, nil, argv...)
	if err != nil {
		return nil, fmt.Errorf("asking Slurm about its nodes: %w", err)
	}
	nodes, err := parseFacts(out)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 && w.Partition != "" {
		return []string{fmt.Sprintf("partition %s has no nodes; sinfo lists the partitions", w.Partition)}, nil
	}
	fit, refused := 0, []string{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		why, err := nodes[name].lacks(w)
		if err != nil {
			return nil, err
		}
		if why == "" {
			fit++
		} else {
			refused = append(refused, fmt.Sprintf("node %s %s", name, why))
		}
	}
	if fit >= w.Nodes {
		return nil, nil
	}
	return shortage.Nodes(w.Nodes, fit, len(nodes), refused), nil
}

// fact is what sinfo reports of a node.
type fact struct {
	state    string
	features []string
	gres     map[string]int
}

// parseFacts reads the output of sinfo. A node in several partitions has several lines.
func parseFacts(text string) (map[string]fact, error) {
	all := map[string]fact{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		f := strings.Split(line, "|")
		if len(f) != 5 {
			return nil, fmt.Errorf("reading the output of sinfo: %q has not 5 fields", line)
		}
		all[f[0]] = fact{f[2], strings.Split(f[3], ","), parseGRES(f[4])}
	}
	return all, nil
}

// parseGRES reads generic resources as Slurm writes them: gpu:h100:8(S:0-1),efa:32. Each counts for its name and for
// name:type.
func parseGRES(text string) map[string]int {
	all := map[string]int{}
	for _, r := range splitGRES(text) {
		if r, _, _ = strings.Cut(r, "("); r == "" {
			continue // (null)
		}
		parts := strings.Split(r, ":")
		count, err := amount(parts[len(parts)-1])
		if len(parts) < 2 || err != nil {
			parts, count = append(parts, ""), 1 // a name alone is one
		}
		all[parts[0]] += count
		if len(parts) > 2 {
			all[parts[0]+":"+parts[1]] += count
		}
	}
	return all
}

// splitGRES splits at commas outside of parentheses, which sockets have: gpu:8(S:0,1).
func splitGRES(text string) (all []string) {
	depth, from := 0, 0
	for i, r := range text + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			if part := text[from:i]; part != "" {
				all = append(all, part)
			}
			from = i + 1
		}
	}
	return all
}

// amount reads a count with a suffix of 1024: 8, 40G.
func amount(text string) (int, error) {
	factor := 1
	for i, suffix := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(text), suffix); ok {
			text, factor = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.Atoi(text)
	return n * factor, err
}

// unusable are states of nodes that get no job, in the words of sinfo; flags such as * follow them.
var unusable = []string{
	"down", "drained", "draining", "drng", "fail", "failing", "maint", "unknown", "perfctrs", "inval", "future",
	"blocked",
}

// lacks describes what a node lacks; "": nothing.
func (f fact) lacks(w Wanted) (string, error) {
	state := strings.TrimRight(f.state, "*~#!%$@^-+")
	if slices.Contains(unusable, state) || strings.HasSuffix(f.state, "*") {
		return "is " + f.state, nil // * means that it does not respond
	}
	var all []string
	for _, name := range w.Features {
		if !slices.Contains(f.features, name) {
			all = append(all, "has no feature "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.GRES)) {
		need, err := amount(w.GRES[name])
		if err != nil {
			return "", fmt.Errorf("gres %s: %q is no amount such as 8", name, w.GRES[name])
		}
		if there := f.gres[name]; there < need {
			all = append(all, fmt.Sprintf("has %d of gres %s (needed: %d)", there, name, need))
		}
	}
	return strings.Join(all, ", "), nil
}
