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
// and data frames. A case without metrics has one row too.
func CSV(w io.Writer, doc *results.Document) error {
	out := csv.NewWriter(w)
	axisNames := axes(doc.Cases)
	head := []string{"session", "scenario", "run", "case", "status", "verdict"}
	for _, a := range axisNames {
		head = append(head, plain(a))
	}
	head = append(head, "metric", "unit", "better", "n", "value", "median", "mean", "cv", "ci_low", "ci_high", "confidence")
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
		if err := metricRows(out, row, c); err != nil {
			return fmt.Errorf("writing case %s: %w", c.Key, err)
		}
	}
	out.Flush()
	return out.Error()
}

func metricRows(out *csv.Writer, row []string, c *results.Case) error {
	if len(c.Metrics) == 0 {
		return out.Write(append(row, "", "", "", "0", "", "", "", "", "", "", ""))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Metrics)) {
		m := c.Metrics[name]
		low, high := "", ""
		if m.CI != nil {
			low, high = raw(m.CI[0]), raw(m.CI[1])
		}
		full := append(slices.Clone(row), plain(name), m.Unit, m.Better, strconv.Itoa(m.N),
			raw(m.Value), raw(m.Median), raw(m.Mean), raw(m.CV), low, high, raw(m.Confidence))
		if err := out.Write(full); err != nil {
			return err
		}
	}
	return nil
}
