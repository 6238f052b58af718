package tooloutput

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The table of nixlbench is read by its header, so it may have the columns of any
// version: those of 8770b655a (2026-08; recorded outputs in testdata, definitions in
// benchmark/nixlbench/src/utils/utils.cpp and worker/nixl/nixl_worker.cpp) and the older
// ones with MiB/Sec and GiB/Sec. It has no closing line. But the configuration before it
// says which block and batch sizes are swept (each doubles), so whether all rows are
// there is known.
var nixlbench = Format{
	Name: "nixlbench",
	Doc: "the table that nixlbench prints at the initiator of rank 0. It must have a row for each block and " +
		"batch size that the configuration above it announces",
	Keys: []string{"block_size", "batch"}, Rows: nixlbenchRows,
	Metrics: []Metric{
		{Name: "bandwidth", Unit: "GB/s", Better: Higher,
			Doc: "B/W (GB/Sec), or Aggregate B/W (GB/Sec) where there is one: the sum over initiators of " +
				"each one's own bandwidth over its own time. Bytes (10^9) of the timed iterations, divided by the " +
				"time of the whole timed part, " +
				"which includes starting threads and making and releasing requests"},
		{Name: "bandwidth.rank0", Unit: "GB/s", Better: Higher,
			Doc: "B/W (GB/Sec) beside an aggregate: rank 0 alone"},
		{Name: "time_per_block", Unit: "s", Better: Lower,
			Doc: "Avg Lat. (us): time of the timed part divided by the iterations of a thread and the batch. " +
				"It is an inverse rate and no latency: a batch or a pipeline makes it shorter than any request is"},
		{Name: "prep.request", Unit: "s", Better: Lower, MayBeZero: true,
			Doc: "Avg Prep (us): making a request, whole microseconds each; unless requests are recreated, " +
				"one for each slot of the pipeline"},
		{Name: "prep.request.p99", Unit: "s", Better: Lower, MayBeZero: true, Doc: "P99 Prep (us)"},
		{Name: "post.avg", Unit: "s", Better: Lower, MayBeZero: true,
			Doc: "Avg Post (us): the call that posts a request, whole microseconds each"},
		{Name: "post.p99", Unit: "s", Better: Lower, MayBeZero: true, Doc: "P99 Post (us)"},
		{Name: "transfer.avg", Unit: "s", Better: Lower, MayBeZero: true,
			Doc: "Avg Tx (us): from the return of the post to the poll that saw the request complete, all of " +
				"its batch; whole microseconds each"},
		{Name: "transfer.p99", Unit: "s", Better: Lower, MayBeZero: true, Doc: "P99 Tx (us)"},
	},
	Read: readNixlbench,
}

// nixlbenchColumns are the columns of all versions, by their headings.
var nixlbenchColumns = map[string]column{
	"Block Size (B)":         {key: "block_size"},
	"Batch Size":             {key: "batch"},
	"B/W (GB/Sec)":           {metric: "bandwidth", unit: same},
	"Aggregate B/W (GB/Sec)": {metric: "bandwidth.all", unit: same},
	"Avg Lat. (us)":          {metric: "time_per_block", unit: microseconds},
	"Avg Prep (us)":          {metric: "prep.request", unit: microseconds},
	"P99 Prep (us)":          {metric: "prep.request.p99", unit: microseconds},
	"Avg Post (us)":          {metric: "post.avg", unit: microseconds},
	"P99 Post (us)":          {metric: "post.p99", unit: microseconds},
	"Avg Tx (us)":            {metric: "transfer.avg", unit: microseconds},
	"P99 Tx (us)":            {metric: "transfer.p99", unit: microseconds},
	// The same as B/W in other units, and a ratio to 50 GB/s whatever the hardware.
	"B/W (MiB/Sec)":    {unit: same},
	"B/W (GiB/Sec)":    {unit: same},
	"Network Util (%)": {unit: same},
}

// nixlbenchSweep is a line of the configuration that bounds the sweep.
var nixlbenchSweep = regexp.MustCompile(`\(--(start|max)_(block|batch)_size=N\) *: (\d+)$`)

// headings are set apart by two spaces or more.
var betweenHeadings = regexp.MustCompile(`  +`)

func readNixlbench(output []byte) ([]Row, error) {
	lines, err := textLines(output)
	if err != nil {
		return nil, err
	}
	var (
		found   rows
		columns []column
		bounds  = map[string]uint64{}
		heading int
		failure string
	)
	for i, line := range lines {
		n := i + 1
		m := nixlbenchSweep.FindStringSubmatch(line)
		switch {
		case m != nil && columns == nil:
			v, err := strconv.ParseUint(m[3], 10, 64)
			if err != nil {
				return nil, at(n, "%s is no size", quote(m[3]))
			}
			bounds[m[1]+" "+m[2]] = v
		case strings.HasPrefix(line, "Block Size (B)"):
			if columns != nil {
				return nil, at(n, "a second table, after that of line %d", heading)
			}
			if columns, err = nixlbenchHeader(n, line); err != nil {
				return nil, err
			}
			heading = n
		case strings.HasPrefix(line, "Consistency check failed"):
			return nil, at(n, "nixlbench says: %s", quote(line))
		case strings.HasPrefix(line, "Error") || strings.HasPrefix(line, "Failed"):
			if failure == "" { // what explains a missing row; with all of them there it was none
				failure = at(n, "nixlbench says: %s", quote(line)).Error()
			}
		case columns != nil && beginsWithDigit(line):
			row, err := readRow(n, columns, strings.Fields(line))
			if err != nil {
				return nil, err
			}
			if all, ok := row.Values["bandwidth.all"]; ok {
				delete(row.Values, "bandwidth.all")
				row.Values["bandwidth.rank0"], row.Values["bandwidth"] = row.Values["bandwidth"], all
			}
			if err := found.add(row); err != nil {
				return nil, err
			}
		}
	}
	if columns == nil {
		if failure != "" {
			return nil, nothing("no table; %s", failure)
		}
		return nil, nothing("no table (a target prints none)")
	}
	if err := nixlbenchComplete(found.list, bounds); err != nil {
		if failure != "" {
			return nil, at(len(lines), "%w; %s", err, failure)
		}
		return nil, at(len(lines), "%w", err)
	}
	return found.list, nil
}

func nixlbenchHeader(n int, line string) ([]column, error) {
	var columns []column
	seen := map[string]bool{}
	for _, name := range betweenHeadings.Split(strings.TrimSpace(line), -1) {
		c, ok := nixlbenchColumns[name]
		if !ok {
			return nil, at(n, "unknown column %s", quote(name))
		}
		if seen[name] {
			return nil, at(n, "column %s is there twice", quote(name))
		}
		seen[name] = true
		columns = append(columns, c)
	}
	if !seen["Batch Size"] || !seen["B/W (GB/Sec)"] {
		return nil, at(n, "the header has no column for the batch size or for GB/Sec")
	}
	return columns, nil
}

// nixlbenchComplete compares the rows with the sweep that the configuration announces.
func nixlbenchComplete(found []Row, bounds map[string]uint64) error {
	for _, name := range []string{"start block", "max block", "start batch", "max batch"} {
		if bounds[name] == 0 {
			flag := "--" + strings.ReplaceAll(name, " ", "_") + "_size"
			return fmt.Errorf("the configuration above the table has no %s, or 0: which rows are due is not known",
				flag)
		}
	}
	i := 0
	for _, block := range doublings(bounds["start block"], bounds["max block"]) {
		for _, batch := range doublings(bounds["start batch"], bounds["max batch"]) {
			want := map[string]string{
				"block_size": strconv.FormatUint(block, 10),
				"batch":      strconv.FormatUint(batch, 10),
			}
			if i == len(found) {
				return fmt.Errorf("the table ends before %s, which the configuration announces", place(want))
			}
			if !maps.Equal(found[i].At, want) {
				return fmt.Errorf("line %d has %s where the configuration announces %s", found[i].Line,
					place(found[i].At), place(want))
			}
			i++
		}
	}
	if i < len(found) {
		return fmt.Errorf("line %d has %s, which is beyond what the configuration announces", found[i].Line,
			place(found[i].At))
	}
	return nil
}

// doublings are the values of a sweep, each twice the one before.
func doublings(start, most uint64) []uint64 {
	var all []uint64
	for v := start; v <= most; v *= 2 {
		all = append(all, v)
		if v > math.MaxUint64/2 {
			break
		}
	}
	return all
}
