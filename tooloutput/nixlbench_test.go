package tooloutput

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestNixlbenchErrors(t *testing.T) {
	checkEdits(t, nixlbench, "etcd_ucx_write_15_sizes.txt", []edit{
		{"a row is missing", "8192                1 ", "x8192               1 ",
			`line 68: line 48 has batch "1", block_size "16384" where the configuration announces batch "1", ` +
				`block_size "8192"`},
		{"the last row is missing", "67108864            1 ", "[log]               1 ",
			`line 68: the table ends before batch "1", block_size "67108864"`},
		{"a row too many", "Max block size (--max_block_size=N)                         : 67108864",
			"Max block size (--max_block_size=N)                         : 33554432", "line 60 has"},
		{"a row twice", "8192                1 ", "4096                1 ",
			`line 47: a second result of batch "1", block_size "4096", after that of line 46`},
		{"a column less", "        0.0            1.0 ", "        1.0 ",
			"line 47: 9 columns where the header has 10"},
		{"no number", "2.836666", "nan", `line 47: column 3: "nan" is no number`},
		{"half a number", "2.836666", "2.83.6666", `line 47: column 3: "2.83.6666" is no number`},
		{"negative", "2.836666", "-2.83666", "line 47: column 3: -2.83666 is negative"},
		{"no configuration", "(--max_batch_size=N)", "(--max_batch=N)", "has no --max_batch_size"},
		{"a size of 0, which never ends", "(--start_block_size=N)                     : 4096",
			"(--start_block_size=N)                     : 0", "has no --start_block_size, or 0"},
		{"an unknown column", "P99 Tx (us)", "P95 Tx (us)", `line 44: unknown column "P95 Tx (us)"`},
		{"a column twice", "P99 Tx (us)", "Avg Tx (us)", `line 44: column "Avg Tx (us)" is there twice`},
		{"failed check", "8192                1 ", "Consistency check failed\n8192                1 ",
			"line 47: nixlbench says: \"Consistency check failed\""},
	})
	text := string(outputs(t, "nixlbench")["etcd_ucx_write_15_sizes.txt"])
	wantError(t, nixlbench, text+text, "a second table")
	for file, want := range map[string]string{
		"one_side_only.stdout.txt": "no table",
		"one_side_only_both.txt":   "nixlbench says: \"Error in barrier wait",
	} {
		text, err := os.ReadFile("testdata/nixlbench/broken/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nixlbench.Read(text); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A killed initiator leaves a table of fewer rows and says why on its other output.
func TestNixlbenchSaysWhyRowsAreMissing(t *testing.T) {
	text := string(outputs(t, "nixlbench")["libfabric_tcp_write.txt"])
	text = text[:strings.Index(text, "2097152 ")] + "Failed to poll: NIXL_ERR_REMOTE_DISCONNECT\n"
	_, err := nixlbench.Read([]byte(text))
	want := `line 53: the table ends before batch "1", block_size "2097152", which the configuration announces; ` +
		`line 53: nixlbench says: "Failed to poll: NIXL_ERR_REMOTE_DISCONNECT"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
