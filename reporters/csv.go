package reporters

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"weir/results"
)

// CSV writes one row per case and metric, in full precision, for spreadsheets
// and data frames. A case without metrics has one row too. Where sleeps were scaled
// there is a column of their factor, empty where it was 1.
func CSV(w io.Writer, doc *results.Document) error {
	out := csv.NewWriter(w)
	axisNames := axes(doc.Cases)
	head := []string{"session", "scenario", "run", "case", "status", "verdict"}
	for _, a := range axisNames {
		head = append(head, plain(a))
	}
	scaled := scaledBanner(doc) != "" && !slices.Contains(axisNames, "time_scale")
	if scaled {
		head = append(head, "time_scale")
	}
	head = append(head, "metric", "unit", "better", "n", "value", "median", "mean", "cv", "ci_low", "ci_high", "confidence", "simulated", "retried")
	if err := out.Write(head); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for _, c := range doc.Cases {
		row := []string{plain(doc.Session.ID), plain(doc.Scenario.Name), plain(c.Run), plain(c.Key), c.Status, standing(c)}
		for _, a := range axisNames {
			v := ""
			if x, ok := c.Axes[a]; ok {
				v = plain(valueText(x))
			}
			row = append(row, v)
		}
		if scaled {
			row = append(row, timeScale(c))
		}
		last := []string{strconv.FormatBool(c.Simulated()), strconv.Itoa(c.Retried())}
		if err := metricRows(out, row, last, c); err != nil {
			return fmt.Errorf("writing case %s: %w", c.Key, err)
		}
	}
	out.Flush()
	return out.Error()
}

// metricRows writes a row per metric between the columns that all of them share.
func metricRows(out *csv.Writer, row, last []string, c *results.Case) error {
	if len(c.Metrics) == 0 {
		return out.Write(slices.Concat(row, []string{"", "", "", "0", "", "", "", "", "", "", ""}, last))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		m := c.Metrics[name]
		low, high := "", ""
		if m.CI != nil {
			low, high = raw(m.CI[0]), raw(m.CI[1])
		}
		measured := []string{plain(name), m.Unit, m.Better, strconv.Itoa(m.N),
			raw(m.Value), raw(m.Median), raw(m.Mean), raw(m.CV), low, high, raw(m.Confidence)}
		if err := out.Write(slices.Concat(row, measured, last)); err != nil {
			return err
		}
	}
	return nil
}
