package reporters

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// CSV writes one row per case and metric, in full precision, for spreadsheets and data frames; a case
// without metrics has one row. The columns are the same for all sessions of a scenario, with unique names.
// verdict is the case's; asserted is the worst verdict of the metric's assertions, or -. samples is the
// number of values behind a quantile in the launch with the fewest. The last columns describe the
// conditions, including the block size in bytes, the time scale if one was used (empty for 1), and the expected
// failure.
func CSV(w io.Writer, doc *results.Document) error {
	out := newSheet(w)
	axisNames := axes(doc.Cases)
	head := []string{"session", "scenario", "run", "case", "status", "verdict"}
	measured := []string{
		"metric", "unit", "better", "n", "value", "median", "mean", "cv", "ci_low", "ci_high", "confidence", "asserted",
		"samples", "simulated", "retried",
	}
	conditionHead := conditionColumns(axisNames)
	taken := slices.Concat(head, measured, conditionHead, waiverColumns)
	for _, a := range axisNames {
		name := distinct(plain(a), "axis_", taken)
		taken = append(taken, name)
		head = append(head, name)
	}
	scaled := scaledBanner(doc) != "" && !slices.Contains(axisNames, "time_scale")
	if scaled {
		head = append(head, "time_scale")
	}
	head = slices.Concat(head, measured, conditionHead, waiverColumns)
	if err := out.write(head); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for _, c := range doc.Cases {
		row := []string{
			plain(doc.Session.ID), plain(doc.Scenario.Name), plain(c.Run), plain(c.Key), c.Status, standing(c),
		}
		row = append(row, axisCells(c, axisNames)...)
		if scaled {
			row = append(row, timeScale(c))
		}
		last := append([]string{strconv.FormatBool(c.Simulated()), strconv.Itoa(c.Retried())},
			conditionCells(c, conditionHead)...)
		if err := metricRows(out, row, last, c); err != nil {
			return fmt.Errorf("writing case %s: %w", c.Key, err)
		}
	}
	return out.end()
}

// axisCells are the values of axes; empty for those that a case lacks.
func axisCells(c *results.Case, axisNames []string) (cells []string) {
	for _, a := range axisNames {
		v := ""
		if x, ok := c.Axes[a]; ok {
			v = plain(option.Text(x))
		}
		cells = append(cells, v)
	}
	return cells
}

// metricRows writes a row per metric between the columns that they share.
func metricRows(out csvRows, row, last []string, c *results.Case) error {
	if c.Metrics.IsZero() {
		return out.write(slices.Concat(row, []string{"", "", "", "0", "", "", "", "", "", "", "", "-", ""}, last,
			waiverCells(c, "")))
	}
	for name, m := range c.Metrics.All() {
		low, high := "", ""
		if m.CI != nil {
			low, high = raw(m.CI[0]), raw(m.CI[1])
		}
		measured := []string{plain(name), m.Unit, m.Better, strconv.Itoa(m.N),
			raw(m.Value), raw(m.Median), raw(m.Mean), raw(m.CV), low, high, raw(m.Confidence), assertedOf(c, name),
			samplesOf(m)}
		if err := out.write(slices.Concat(row, measured, last, waiverCells(c, name))); err != nil {
			return err
		}
	}
	return nil
}

// waiverColumns are of the failure that is expected of the metric or of its case: why, the last day, and how far
// beyond the bound as a share of it.
var waiverColumns = []string{"xfail_reason", "xfail_until", "xfail_ceiling"}

func waiverCells(c *results.Case, metric string) []string {
	x := waiverOf(c, metric)
	switch {
	case x == nil:
		return []string{"", "", ""}
	case x.Ceiling <= 0:
		return []string{plain(x.Why()), plain(x.Until), ""}
	}
	return []string{plain(x.Why()), plain(x.Until), raw(x.Ceiling)}
}

// csvRows writes CSV rows and escapes their cells.
type csvRows struct{ to *csv.Writer }

func newSheet(w io.Writer) csvRows { return csvRows{csv.NewWriter(w)} }

func (s csvRows) write(row []string) error { return s.to.Write(cells(row)) }

func (s csvRows) end() error {
	s.to.Flush()
	return s.to.Error()
}

// samplesOf is the number of values behind a quantile in a launch; "" for others.
func samplesOf(m results.MetricEstimate) string {
	if m.Samples == 0 {
		return ""
	}
	return strconv.FormatInt(m.Samples, 10)
}

// cells prefixes texts that a spreadsheet would take for a formula with a quote. Numbers and single dashes
// are unchanged.
func cells(row []string) []string {
	row = slices.Clone(row)
	for i, cell := range row {
		if cell == "" || cell == "-" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			continue
		}
		if _, err := strconv.ParseFloat(cell, 64); err != nil {
			row[i] = "'" + cell
		}
	}
	return row
}

// assertedOf is the worst verdict of a case's assertions about a metric.
func assertedOf(c *results.Case, metric string) string {
	worst := "-"
	for _, a := range c.Assertions {
		if a.Subject != nil && slices.Contains(a.Subject.Metrics(), metric) && rank(a.Standing()) < rank(worst) {
			worst = a.Standing()
		}
	}
	return worst
}

// distinct returns an unused name: the name itself, with a prefix, or with a number.
func distinct(name, prefix string, taken []string) string {
	if !slices.Contains(taken, name) {
		return name
	}
	unique := prefix + name
	for n := 2; slices.Contains(taken, unique); n++ {
		unique = fmt.Sprintf("%s%s_%d", prefix, name, n)
	}
	return unique
}
