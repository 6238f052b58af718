package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// writeTrafficTable prints a line for each pattern, and the totals.
func writeTrafficTable(w io.Writer, c *model.Config, patterns []matrix.Pattern) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "pattern\tisl\trequests\tsenders\treceivers\tcells\tbytes\tlargest cell\tsleep before")
	for i, p := range patterns {
		isl, _ := p.Lookup("isl")
		requests, _ := p.Lookup("requests")
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", i, isl, requests, ranks(p.Matrix.Senders()),
			ranks(p.Matrix.Receivers()),
			p.Matrix.NonZero(), p.Matrix.Total(), matrix.Rounded(p.Matrix.Largest()), sleepText(p.SleepBefore))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", trafficSummary(c, patterns))
	return err
}

// trafficSummary describes a sequence in one line.
func trafficSummary(c *model.Config, patterns []matrix.Pattern) string {
	return fmt.Sprintf("%d patterns between %d ranks (%d prefill, %d decode), %.6g GB, %s of sleep in sum",
		len(patterns), c.Ranks(), c.PrefillRanks, c.DecodeRanks, float64(matrix.Bytes(patterns))/1e9,
		sleepText(matrix.Sleeping(patterns)))
}

func sleepText(seconds float64) string { return fmt.Sprintf("%.12g s", seconds) }

// ranks writes ascending ranks, neighbours as a range.
func ranks(all []int) string {
	text := ""
	for i := 0; i < len(all); {
		end := i
		for end+1 < len(all) && all[end+1] == all[end]+1 {
			end++
		}
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(all[i])
		if end > i {
			text += fmt.Sprintf("-%d", all[end])
		}
		i = end + 1
	}
	return text
}

// roundingLoss is the relative change of the sum of all bytes by rounding the cells.
func roundingLoss(patterns []matrix.Pattern, size func(int64) string) float64 {
	exact, written := 0.0, 0.0
	for _, p := range patterns {
		for cell := range p.Matrix.Cells() {
			back, err := matrix.ParseSize(size(cell.Bytes))
			if err != nil {
				panic(err) // it was just written
			}
			exact, written = exact+float64(cell.Bytes), written+float64(back)
		}
	}
	if exact == 0 {
		return 0
	}
	return written/exact - 1
}
