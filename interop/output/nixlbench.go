package output

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var (
	// nixlbenchFlag matches a line of the configuration above the table.
	nixlbenchFlag  = lazyregexp.New(`\(--(\w+)=N\) *: (\d+)$`)
	nixlbenchError = lazyregexp.New(`^(Error|Failed)`)
)

// nixlbenchComplete compares the rows with the sweep in the configuration, since the table has no
// end mark. Error messages of nixlbench explain missing rows; if no row is missing, they are
// ignored.
func nixlbenchComplete(t *tool, lines []string, found []Row, err error) ([]Row, error) {
	flags, failure, above := map[string]int64{}, "", true
	for i, line := range lines {
		above = above && !t.Table.Header.matches(line)
		if m := nixlbenchFlag().FindStringSubmatch(line); m != nil && above {
			n, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				return nil, at(i+1, "%s is not a size", quote(m[2]))
			}
			flags[m[1]] = n
		}
		if failure == "" && nixlbenchError().MatchString(line) {
			failure = at(i+1, "nixlbench says: %s", quote(line)).Error()
		}
	}
	switch {
	case errors.Is(err, ErrNothing) && failure != "":
		return nil, nothing("no table; %s", failure)
	case err != nil && !errors.Is(err, errNoRow):
		return nil, err
	}
	err = t.announced(flags, found)
	switch {
	case err == nil:
		return found, nil
	case failure != "":
		return nil, at(len(lines), "%w; %s", err, failure)
	}
	return nil, at(len(lines), "%w", err)
}

func (t *tool) announced(flags map[string]int64, found []Row) error {
	block, batch := t.Sweeps["block_size"], t.Sweeps["batch"]
	if len(flags) == 0 && len(found) > 0 {
		return nil // the table alone
	}
	batched := len(found) == 0
	for _, row := range found {
		batched = batched || row.At["batch"] != ""
	}
	if !batched { // of the oldest versions
		flags[batch.First], flags[batch.Last] = 1, 1
	}
	for _, name := range []string{block.First, block.Last, batch.First, batch.Last} {
		if flags[name] == 0 {
			return fmt.Errorf("the configuration above the table has no --%s, or 0: the expected rows are unknown",
				name)
		}
	}
	i := 0
	for _, size := range doublings(flags[block.First], flags[block.Last]) {
		for _, n := range doublings(flags[batch.First], flags[batch.Last]) {
			want := map[string]string{"block_size": strconv.FormatInt(size, 10), "batch": strconv.FormatInt(n, 10)}
			if !batched {
				delete(want, "batch")
			}
			if i == len(found) {
				return fmt.Errorf("the table ends before %s, which the configuration requires", place(want))
			}
			if !maps.Equal(found[i].At, want) {
				return fmt.Errorf("line %d has %s, but the configuration requires %s", found[i].Line,
					place(found[i].At), place(want))
			}
			i++
		}
	}
	if i < len(found) {
		return fmt.Errorf("line %d has %s, which the configuration does not include", found[i].Line,
			place(found[i].At))
	}
	return nil
}
