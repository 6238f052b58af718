package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/program"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/rank"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results"
)

func newProbe() *cobra.Command {
	var asJSON, internal, gpuMemory bool
	cmd := &cobra.Command{
		Use:   "probe [FABRIC…]",
		Short: "show the fabrics, processors, memory and devices of this host",
		Example: `  weir probe
  weir probe ucx --json`,
		RunE: func(cmd *cobra.Command, fabrics []string) error {
			if gpuMemory {
				return exit.Code(rank.GPUMemoryMain(cmd.OutOrStdout()))
			}
			if internal {
				return exit.Code(rank.ProbeMain(cmd.OutOrStdout(), fabrics))
			}
			for _, f := range fabrics {
				if known := fabric.Names(); !slices.Contains(known, f) {
					return exit.Usage("unknown fabric %q%s", f, suggest.DidYouMean(f, known))
				}
			}
			node, err := survey(cmd, fabrics)
			if err != nil {
				return exit.With(gate.ExitExecution, err)
			}
			if asJSON {
				return exit.With(gate.ExitExecution, screen.JSON(cmd.OutOrStdout(), node))
			}
			out := screen.Folded(cmd.OutOrStdout())
			return exit.With(gate.ExitExecution, errors.Join(printNode(out, node), out.Flush()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the node as in result documents")
	cmd.Flags().BoolVar(&internal, "internal", false, "run as the short-lived process that loads vendor libraries")
	cmd.Flags().BoolVar(&gpuMemory, "gpu-memory", false, "run as the process that samples the memory of GPUs")
	if err := errors.Join(cmd.Flags().MarkHidden("internal"), cmd.Flags().MarkHidden("gpu-memory")); err != nil {
		panic(err) // the flags were added above
	}
	return cmd
}

// survey describes this host, with an agent that joins no session.
func survey(cmd *cobra.Command, fabrics []string) (node results.Node, err error) {
	self, err := program.Processes()
	if err != nil {
		return node, err
	}
	name, err := os.Hostname()
	if err != nil {
		return node, fmt.Errorf("naming this node: %w", err)
	}
	a := agent.New(agent.Options{Node: name, ProbeCommand: self.Probe})
	defer func() {
		if cerr := a.Close(); err == nil {
			err = cerr
		}
	}()
	if len(fabrics) == 0 {
		fabrics = fabric.Names()
	}
	return a.Survey(cmd.Context(), fabrics), nil
}

// processorsText describes the processors that weir may use, and their limit.
func processorsText(c results.CPU) string {
	if c.Usable() < float64(c.Allowed) {
		return fmt.Sprintf("%.2g of %d processors, by the CPU limit of this container or job; %d of %d in the affinity mask, %s",
			c.Usable(), c.Allowed, c.Allowed, c.Count, c.Model)
	}
	return fmt.Sprintf("%d of %d usable, %s", c.Allowed, c.Count, c.Model)
}

func printNode(w io.Writer, n results.Node) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
	line("node", n.Name)
	line("system", strings.Trim(n.OS+", "+n.Kernel, ", "))
	line("processors", processorsText(n.CPU))
	if c := n.CPU.Cache; c != nil {
		line("caches", cachesText(*c))
	}
	line("clock", frequency(n.CPU))
	if n.StampClock != "" {
		line("stamps", n.StampClock)
	}
	for _, m := range n.NUMA {
		line("numa node", fmt.Sprintf("%d: CPUs %s, %s", m.ID, m.CPUs, gibibytes(m.Memory)))
	}
	line("memory", gibibytes(n.Memory.Total)+pagesText(n.Memory))
	for _, g := range n.GPUs {
		line("gpu", g.Words())
	}
	if n.GPUReason != "" {
		line("gpus", n.GPUReason)
	}
	for _, i := range n.NICs {
		line("nic", strings.TrimSpace(fmt.Sprintf("%s %s, MTU %d %s", i.Name, i.State, i.MTU,
			strings.TrimSpace(i.Speed+" "+i.Driver))))
	}
	for _, d := range n.RDMA {
		for _, p := range d.Ports {
			line("rdma", strings.TrimSpace(fmt.Sprintf("%s port %d %s, %s %s", d.Name, p.Port, p.State, p.Link,
				p.Rate)))
		}
	}
	t.Flush()
	line()
	line("FABRIC", "AVAILABLE", "VERSION", "NOTES")
	for _, name := range slices.Sorted(maps.Keys(n.Fabrics)) {
		f := n.Fabrics[name]
		available := "no"
		if f.Available {
			available = "yes"
		}
		line(name, available, f.Version, notes(f))
	}
	return t.Flush()
}

func gibibytes(n int64) string { return quantity.Digits(float64(n)/(1<<30), 3) + " GiB" }

func cachesText(c results.Cache) string {
	var out []string
	for level, size := range []int64{2: c.L2, 3: c.L3} {
		if size > 0 {
			out = append(out, fmt.Sprintf("L%d %v", level, quantity.Size(size)))
		}
	}
	return strings.Join(out, ", ")
}

// frequency describes the settings of the processor clock.
func frequency(c results.CPU) string {
	var out []string
	for _, f := range []struct{ what, value string }{{"governor", c.Gov}, {"driver", c.Driver}, {"turbo", c.Turbo}} {
		if f.value != "" {
			out = append(out, f.what+" "+f.value)
		}
	}
	if len(out) == 0 {
		return "not reported by the kernel"
	}
	return strings.Join(out, ", ")
}

// pagesText describes huge pages and the limit of locked memory.
func pagesText(m results.Memory) string {
	s := ""
	if m.THP != "" {
		s += ", transparent huge pages " + m.THP
	}
	for _, h := range m.Hugepages {
		s += fmt.Sprintf(", %d of %d pages of %v free", h.Free, h.Total, quantity.Size(h.Size))
	}
	if limit := m.LockText(); limit != "" {
		s += ", locked at most " + limit
	}
	return s
}

// spacedCommas finds commas with the blank that may follow: libraries list names without it, and texts have it. Two
// blanks would end a column of the table.
var spacedCommas = regexp.MustCompile(`, ?`)

// notes is the reason why a fabric is not available, or its details.
func notes(f results.Fabric) string {
	if !f.Available {
		return f.Reason
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(f.Details)) {
		out = append(out, key+": "+spacedCommas.ReplaceAllString(f.Details[key], ", "))
	}
	if len(f.Paths) > 0 {
		out = append(out, "to other hosts: "+results.PathsText(f.Paths))
	}
	return strings.Join(out, "; ")
}
