package output

import (
	"strings"
	"testing"
)

func TestRowsThatACommandLineOfNixlbenchAsksFor(t *testing.T) {
	rows := formatOf(t, "nixlbench").Rows
	for line, want := range map[string]string{
		"nixlbench --max_block_size 16384":                                        "4KiB 8KiB 16KiB",
		"nixlbench --start-block-size=8192 -max_block_size=16384 --backend UCX":   "8KiB 16KiB",
		"env A=b nixlbench --max_block_size=4 --max_block_size=8192":              "4KiB 8KiB",
		"nixlbench --max_batch_size 4 --max_block_size 8192":                      "",
		"nixlbench --max_block_size ${axis.x}":                                    "",
		"nixlbench --start_block_size 8192 --max_block_size 4096":                 "",
		"nixlbench --start_block_size 4611686018427387904 --max_block_size 9e18":  "",
		"nixlbench --start_batch_size 2 --max_batch_size 2 --max_block_size 4096": "4KiB",
	} {
		if got := strings.Join(rows(strings.Fields(line), "block_size"), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	batches := strings.Fields("nixlbench --max_batch_size 4 --max_block_size 4096")
	if got := rows(batches, "batch"); len(got) != 3 {
		t.Errorf("batches %v", got)
	}
	if got := rows([]string{"nixlbench"}, "block_size"); len(got) != 15 {
		t.Errorf("%v", got)
	}
}
