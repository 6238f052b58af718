package tooloutput

import (
	"errors"
	"os"
	"strings"
	"testing"

	"weir/test/golden"
)

// One output for each of 15 sizes, recorded into one file.
func TestUCXPerftestRecordedSizes(t *testing.T) {
	text, err := os.ReadFile("testdata/ucx_perftest/sizes_put_bw.multi")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "## size ")[1:]
	if len(parts) != 15 {
		t.Fatalf("%d sizes", len(parts))
	}
	var all strings.Builder
	for _, part := range parts {
		title, part, _ := strings.Cut(part, "\n")
		found, err := ucxPerftest.Read([]byte(part))
		if err != nil {
			t.Fatalf("size %s: %v", title, err)
		}
		all.WriteString("size " + title + " " + table(ucxPerftest, found))
	}
	golden.Equal(t, "testdata/ucx_perftest/sizes_put_bw.multi.golden", []byte(all.String()))
	wantError(t, ucxPerftest, string(text), "line 15: a second table, after that of line 7")
}

func TestUCXPerftestErrors(t *testing.T) {
	const final = "Final:                200000      0.411     2.006    32.997     1947.15     118.38" +
		"      498470       30306\n"
	checkEdits(t, ucxPerftest, "tag_lat_p99.txt", []edit{
		{"no result", final, "", "line 18: the output ends after stages of a test, without its result"},
		{"two results", final, final + final, "line 20: a second result, after that of line 19"},
		{"a column less", "1947.15     118.38", "1947.15", "line 19: 7 columns where the header has 8"},
		{"no number", "1947.15", "inf", `line 19: column 5: "inf" is no number`},
		{"an error of UCX", final,
			"[1795421454.782607] [vm:7384 :0]        perftest.c:405  UCX  ERROR client failed\n" + final,
			"line 19: ucx_perftest says: "},
		{"a stage without numbers", "[thread 0]              3004", "[thread", "line 6: 6 columns"},
		{"a header of nothing", "Final:", "final:", "without its result"},
	})
	checkEdits(t, ucxPerftest, "batch.txt", []edit{
		{"a test without result", "Final:                 10000      0.105",
			"[log]:                 10000      0.105", `line 13: test "lat8" of line 6 has no result`},
	})
	checkEdits(t, ucxPerftest, "batch_final.txt", []edit{
		{"a column less", "36.110    36.110", "36.110", "line 6: 7 columns"},
		{"the same test twice", "bw4k", "lat8", `line 7: a second result of test "lat8"`},
	})
	header := string(outputs(t, "ucx_perftest")["threads.txt"])
	header = header[:strings.Index(header, "Final:")]
	for text, want := range map[string]string{
		header: "line 5: the table has a header and no result",
		"iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n" +
			"20000,0.912,21.442,21.442,182.18,182.18,46638,46638\n": "line 1: the output of -v",
		"[1795421454.782607] [vm:7384 :0]        perftest.c:405  UCX  ERROR client failed. connect() failed: " +
			"Connection refused\n": "line 1: ucx_perftest says",
	} {
		if _, err := ucxPerftest.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	server := "Waiting for connection...\nAccepted connection from 127.0.0.1:51730\n+---+\n" +
		"| API:          protocol layer   |\n| Message size: 4096  |\n+---+\n"
	if _, err := ucxPerftest.Read([]byte(server)); !errors.Is(err, ErrNothing) {
		t.Errorf("a server's output: %v", err)
	}
}

func TestUCXPerftestGroupedNumbers(t *testing.T) {
	text := outputs(t, "ucx_perftest")["numeric.txt"]
	want, err := ucxPerftest.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	grouped := strings.NewReplacer("20000", "20,000", "21459729", "21,459,729").Replace(string(text))
	got, err := ucxPerftest.Read([]byte(grouped))
	if err != nil || table(ucxPerftest, got) != table(ucxPerftest, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := ucxPerftest.Read([]byte(strings.Replace(grouped, "20,000", "20,00", 1))); err == nil {
		t.Error("20,00 was accepted")
	}
}
