package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/docs"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/traffic/model"
)

func newDocs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "print the documentation: the list of its pages, or a page",
		Long: `docs prints the list of all topics, or the page of one. Pages about workloads have the
workloads' names, "weir docs language" lists the sections of the language of scenarios,
"weir docs moving" the pages for people who come from other tools.
The topics below are made of the tables that weir itself uses.`,
		Example: "  weir docs\n  weir docs transfer\n  weir docs language axes\n  weir docs metrics latency.p99",
		Args:    cobra.ArbitraryArgs, // so that docsPage answers, not cobra
		RunE:    docsPage, ValidArgs: docs.Names(),
	}
	for name, page := range map[string]struct {
		short string
		write func(io.Writer)
	}{
		"generate":   {"what traffic that follows from a model takes, in a scenario and of weir matgen", docsGenerate},
		"exit-codes": {"every exit code and what it means", docsExitCodes},
		"reports":    {"every format of --report, who it is for and where it goes", docsReports},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: name, Short: page.short, Example: "  weir docs " + name, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				var b strings.Builder
				page.write(&b)
				_, err := io.WriteString(cmd.OutOrStdout(), screen.Reflow(b.String(), screen.Width(cmd.OutOrStdout())))
				return exit.With(gate.ExitExecution, err)
			},
		})
	}
	cmd.AddCommand(
		docsOfWorkloads("workloads", "workloads with their options, defaults and metrics", docsWorkloads),
		docsOfWorkloads("metrics", "metrics with their units and exact definitions", docsMetrics),
		newDocsImport(),
	)
	return cmd
}

// docsLong are the descriptions of pages that take more than workloads.
var docsLong = map[string]string{
	"metrics": "metrics prints the metrics of all workloads, of those that are named, or single metrics: weir docs metrics latency.p99",
}

// docsOfWorkloads is a page about all workloads or the ones that are named.
func docsOfWorkloads(name, short string, write func(io.Writer, []*workload.Kind)) *cobra.Command {
	return &cobra.Command{
		Use: name + " [WORKLOAD…]", Short: short, Long: docsLong[name],
		Example: "  weir docs " + name + "\n  weir docs " + name + " transfer",
		RunE: func(cmd *cobra.Command, args []string) error {
			kinds, single := workload.Kinds(), []string{}
			if len(args) > 0 {
				kinds = nil
			}
			for _, a := range args {
				k, ok := workload.Lookup(a)
				if !ok && name == "metrics" && slices.Contains(documentedMetrics(), a) {
					single = append(single, a)
					continue
				}
				if !ok && name == "metrics" {
					return exit.Usage("there is no workload and no metric %q%s", a,
						suggest.DidYouMean(a, append(documentedMetrics(), workload.Names()...)))
				}
				if !ok {
					return exit.Usage("there is no workload %q%s", a, workloadMeant(a))
				}
				kinds = append(kinds, k)
			}
			var b strings.Builder
			write(&b, kinds)
			for _, metric := range single {
				docsMetric(&b, metric)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), screen.Reflow(b.String(), screen.Width(cmd.OutOrStdout())))
			return exit.With(gate.ExitExecution, err)
		},
	}
}

// workloadMeant is the workload or fabric that a misspelt word most likely is, or else the list of workloads.
func workloadMeant(word string) string {
	if near := suggest.DidYouMean(word, workload.Names()); near != "" {
		return near
	}
	known := "; the workloads are " + strings.Join(workload.Names(), ", ")
	if slices.Contains(fabric.Values(), word) {
		return fmt.Sprintf("; %s is a fabric, whose options stand with each workload that it carries%s", word, known)
	}
	if near := suggest.Nearest(word, fabric.Values()); near != "" {
		return fmt.Sprintf("; did you mean %q? It is a fabric, whose options stand with each workload that it carries%s",
			near, known)
	}
	return known
}

func documentedMetrics() (names []string) {
	for _, k := range workload.Kinds() {
		for _, m := range metricsOf(k) {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

func docsWorkloads(w io.Writer, kinds []*workload.Kind) {
	for _, k := range kinds {
		fmt.Fprintf(w, "%s: %s\n\noptions\n", k.Name, k.Doc)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, o := range k.Options {
			value := "default " + o.DefaultText()
			switch {
			case o.Required:
				value = "required"
			case slices.Contains(k.OneOf, o.Name):
				value = "one of " + strings.Join(k.OneOf, ", ")
			case o.RanksOf != "":
				value = "default that of " + o.RanksOf
			case o.Default == nil || o.Default == "":
				value = "no default"
			}
			doc := o.Doc
			if only := o.Only(); only != "" {
				doc = fmt.Sprintf("(%s only) %s", only, doc)
			}
			kind := string(o.Type)
			if len(o.Values) > 0 {
				kind = strings.Join(o.Values, " | ")
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", o.Name, kind, value, doc)
		}
		t.Flush()
		var names []string
		for _, m := range metricsOf(k) {
			names = append(names, m.Name)
		}
		fmt.Fprintf(w, "\nmetrics (see weir docs metrics)\n  %s\n", strings.Join(names, " "))
		docsNotes(w, k.Show.Notes)
	}
}

// docsNotes prints the notes of a workload, indented below their topics.
func docsNotes(w io.Writer, notes string) {
	for line := range strings.Lines(strings.TrimSpace(notes)) {
		line = strings.TrimSpace(line)
		if topic, ok := strings.CutPrefix(line, "## "); ok {
			fmt.Fprintf(w, "\n%s\n", topic)
		} else if line != "" {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}

// metricsOf are the metrics of a launch, and that of the launches of a case.
func metricsOf(k *workload.Kind) []workload.Metric {
	return append(slices.Clone(k.Metrics), workload.Availability)
}

func docsMetrics(w io.Writer, kinds []*workload.Kind) {
	for _, k := range kinds {
		docsMetricsOf(w, k, metricsOf(k))
	}
}

// docsMetric prints one metric of each workload that has it.
func docsMetric(w io.Writer, name string) {
	for _, k := range workload.Kinds() {
		if m, ok := workload.FindMetric(metricsOf(k), name); ok {
			docsMetricsOf(w, k, []workload.Metric{m})
		}
	}
}

func docsMetricsOf(w io.Writer, k *workload.Kind, metrics []workload.Metric) {
	fmt.Fprintf(w, "%s\n", k.Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range metrics {
		unit := m.Unit
		if unit == "" {
			unit = "ratio"
		}
		better := string(m.Better) + " is better"
		if m.Better == workload.Neither {
			better = "context"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", m.Name, unit, better, m.Doc)
	}
	t.Flush()
}

// docsGenerate prints the fields of traffic that follows from a model.
func docsGenerate(w io.Writer) {
	fmt.Fprint(w, `Traffic that follows from a model and its requests: generate: {model: …} among the
options of workload traffic_sequence, or of workload traffic if the requests make one
batch; in HCL generate = { model = … }. The same with dashes are the flags of weir
matgen, which writes files. Either model or config is given, and the nodes.

`)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range model.Fields() {
		value := "no default"
		switch text := f.Default(); {
		case text != "":
			value = "default " + text
		case f.Type == model.Bool:
			value = "default false"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Type, value, f.Doc)
	}
	t.Flush()
}

func docsExitCodes(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range gate.ExitCodes {
		fmt.Fprintf(t, "%d\t%s\n", c.Code, c.Meaning)
	}
	t.Flush()
}

func docsReports(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, format := range reporters.Formats() {
		r, _ := reporters.Lookup(format)
		place := r.DefaultFile
		if place == reporters.Stdout {
			place = "stdout"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", format, place, reporters.About(format))
	}
	t.Flush()
	_, _ = io.WriteString(w, reporters.Marks)
}
