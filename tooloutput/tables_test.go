package tooloutput

import (
	"errors"
	"strings"
	"testing"
)

func TestFabtestsErrors(t *testing.T) {
	checkEdits(t, fabtests, "pingpong_shm.txt", []edit{
		{"a column less", "8641.35       0.47       2.11", "8641.35       0.47",
			"line 5: 7 columns where the header has 8"},
		{"no number", "8641.35", "nan", `line 5: column 6: "nan" is no number`},
		{"lost transfers", "=1k      7.8m", "+3       7.8m",
			"line 5: not as many transfers were acknowledged as sent (+3)"},
		{"no count", "=1k      7.8m", "=1x      7.8m", `line 5: column #ack: "=1x" is no number`},
		{"a rounded size", "4k      1k", "4.1k    1k", "line 5: a size of 4.1k is a rounded one"},
		{"no size", "4k      1k", "4q      1k", `line 5: "4q" is no size`},
		{"the same size twice", "4k      1k", "1k      1k",
			`line 5: a second result of block_size "1024", after that of line 4`},
		{"another header", "usec/xfer", "nsec/xfer", "line 1: unknown columns"},
		{"an error of fi_pingpong", "4k      1k", "[error] util/pingpong.c:568 : ctrl/read: no data\n4k      1k",
			"line 5: the test says"},
		{"an error of a call", "4k      1k",
			"fi_getinfo(): util/pingpong.c:1489, ret=-61 (No data available)\n4k      1k", "line 5: the test says"},
		{"wrong data", "4k      1k", "Error at iteration=4 size=64 byte=3\n4k      1k", "line 5: the test says"},
	})
	checkEdits(t, fabtests, "made_machine_readable.txt", []edit{
		{"half a row", ", Mxfers/sec: 0.810373 }", "", "line 3: no whole row of -m"},
		{"no number", "51.863857", "x", `line 3: column 5: "x" is no number`},
	})
	checkEdits(t, fabtests, "made_names.txt", []edit{
		{"a column less", "12500.51       5.24       0.19", "12500.51       5.24", "line 2: "},
		{"a line of a log", "read bandwidth ", "provider warns\nread bandwidth ",
			"line 3: 2 columns where the header has 7"},
	})
	header := "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
	if _, err := fabtests.Read([]byte(header)); err == nil || errors.Is(err, ErrNothing) {
		t.Errorf("a header alone: %v", err)
	}
}

func TestPerftestErrors(t *testing.T) {
	broken(t, perftest, "no_device.txt", `line 1: perftest says: " Did not detect devices "`)
	const rule = "---------------------------------------------------------------------------------------\n"
	checkEdits(t, perftest, "made_write_bw.txt", []edit{
		{"a column less", "11020.31            11010.07", "11020.31", "line 22: 4 columns where the header has 5"},
		{"glued columns", "11010.07\t\t   2.818578", "11010.072.818578", "line 22: 4 columns where the header has 5"},
		{"no number", "11010.07", "-nan", `line 22: column 4: "-nan" is no number`},
		{"the same size twice", " 4096  ", " 2     ",
			`line 22: a second result of block_size "2", after that of line 21`},
		{"an unknown unit", "BW average[MB/sec]", "BW average[KB/sec]",
			`line 20: unknown column "BW average[KB/sec]"`},
		{"a column twice", "BW average[MB/sec]", "BW peak[MB/sec]",
			`line 20: column "BW peak[MB/sec]" is there twice`},
		{"below its limit", "0.188175\n", "0.188175\nError: BW result is below bw limit\n", "line 24: perftest says"},
		{"printed into a row", " 4096  ", "[log] 4096  ", "line 22: something was printed into a row"},
		{"a row after the rule", " 65536 ", rule + " 65536 ", "line 24: a row after the rule that closes the table"},
	})
	text := string(outputs(t, "perftest")["made_write_bw.txt"])
	for text, want := range map[string]string{
		strings.TrimSuffix(text, rule):          "line 23: the table is not closed by a rule",
		text[:strings.Index(text, " 2       ")]: "line 20: the table has a header and no result",
		text + text:                             "line 44: a second table, after that of line 20",
		"11010.07\n":                            "no result found: no table",
		"Couldn't connect to 10.0.0.2:18515\n" + rule + rule: "line 1: perftest says",
	} {
		if _, err := perftest.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestNCCLTestsErrors(t *testing.T) {
	checkEdits(t, ncclTests, "made_all_reduce.txt", []edit{
		{"a column less", "52.13   20.11   35.20", "52.13   20.11", "line 13: 12 columns where the header has 13"},
		{"no number", "52.13", "inf", `line 13: column 6: "inf" is no number`},
		{"wrong elements", "35.20       0", "35.20       3", "line 13: 3 wrong elements"},
		{"many wrong elements", "35.20       0", "35.20   1e+06", "line 13: 1e+06 wrong elements"},
		{"a failed check", "values : 0 OK", "values : 7 FAILED", "line 16: the test says"},
		{"below its limit", "151.268 \n", "151.268 FAILED\n", "line 17: the test says"},
		{"no end", "# Avg bus bandwidth", "# avg bus bandwidth",
			"line 20: the lines Out of bounds values and Avg bus bandwidth are missing"},
		{"no check", "# Out of bounds", "# out of bounds",
			"line 20: the lines Out of bounds values and Avg bus bandwidth are missing"},
		{"no average", "151.268", "-nan", `line 17: "-nan" is no number`},
		{"a failure of NCCL", "# Out of",
			"host: Test NCCL failure common.cu:303 'unhandled system error'\n# Out of", "line 16: the test says"},
		{"an unknown column", "algbw", "algbW", `line 10: unknown column "algbW"`},
		{"the same row twice", "     1048576        262144", "           8             2",
			"line 13: a second result of block_size"},
		{"printed into a row", "     1048576        262144", "NCCL WARN 1048576        262144",
			"line 13: something was printed into a row"},
		{"times of the CPU", "   time ", "cputime ", "line 10: with -C the column of times is that of the CPU"},
	})
	text := string(outputs(t, "nccl-tests")["made_all_reduce.txt"])
	wantError(t, ncclTests, text+text, "a second table, after that of line 10")
}

// Older versions print the greatest deviation from what is due, which sums may have.
func TestNCCLTestsOlderError(t *testing.T) {
	text := string(outputs(t, "nccl-tests")["made_all_reduce.txt"])
	text = strings.NewReplacer("#wrong", " error", "35.20       0", "35.20   5e-07").Replace(text)
	if found, err := ncclTests.Read([]byte(text)); err != nil || len(found) != 4 {
		t.Errorf("got %v, %v", found, err)
	}
}
