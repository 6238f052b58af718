package reporters

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

func written(t *testing.T, format string, doc *results.Document) string {
	t.Helper()
	r, ok := Lookup(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	if err := r.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nobody takes simulated numbers for measured ones, in whatever format he reads them.
func TestEveryReportSaysThatItIsSimulated(t *testing.T) {
	for _, format := range Formats() {
		doc := read(t, "passed")
		got := strings.ToLower(written(t, format, doc))
		if !strings.HasPrefix(format, "csv") && strings.Contains(got, "simulated") {
			t.Errorf("%s: a measured session is called simulated", format)
		}
		for _, c := range doc.Cases {
			for _, l := range c.Launches {
				l.Simulated = true
			}
		}
		want := map[string]string{
			"csv": ",true,0,", "csv-launches": ",true,false,", "json": `"simulated": true`,
			"junit":    `<property name="simulated" value="SIMULATED: no data was moved`,
			"comment":  "> **SIMULATED: no data was moved",
			"markdown": "> **SIMULATED: no data was moved", "table": "SIMULATED: no data was moved",
		}[format]
		if got := written(t, format, doc); !strings.Contains(got, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, got)
		}
	}
	if got := written(t, "table", read(t, "several")); !strings.HasPrefix(got,
		"SIMULATED IN PART: the numbers of 1 of 5 cases") || strings.Count(got, "(simulated)") != 1 {
		t.Errorf("a session that is simulated in part:\n%s", got)
	}
}

// Nobody takes a rehearsal for the real thing, in whatever format he reads it.
func TestEveryReportSaysThatSleepsWereScaled(t *testing.T) {
	for _, format := range Formats() {
		doc := read(t, "passed")
		for i, c := range doc.Cases {
			c.Options["time_scale"] = 1.0
			if i > 0 {
				c.Options["time_scale"] = option.Scale(1) // as in the session itself
			}
		}
		before := written(t, format, doc)
		if format != "json" && strings.Contains(strings.ToLower(before), "sleeps scaled") {
			t.Errorf("%s: sleeps as they are written are called scaled", format)
		}
		for _, c := range doc.Cases {
			c.Options["time_scale"] = 0.01
		}
		run := doc.Cases[0].Run
		want := map[string]string{
			"csv-launches": "time_scale=0.01",
			"aiperf":       "SLEEPS SCALED by 0.01 in " + run,
			"llm-d":        "SLEEPS SCALED by 0.01 in " + run,
			"csv":          ",time_scale,metric,", "json": `"time_scale": 0.01`,
			"junit":    `<property name="time_scale" value="SLEEPS SCALED by 0.01 in ` + run,
			"comment":  "> **SLEEPS SCALED by 0.01 in " + run,
			"markdown": "> **SLEEPS SCALED by 0.01 in " + run, "table": "SLEEPS SCALED by 0.01 in " + run,
			"github": "SLEEPS SCALED by 0.01 in " + run, "gitlab": "SLEEPS SCALED by 0.01 in " + run,
			"html":        "SLEEPS SCALED by 0.01 in " + run,
			"nixlbench":   "SLEEPS SCALED by 0.01 in " + run,
			"ct-perftest": "SLEEPS SCALED by 0.01 in " + run, "nixl-ep": "SLEEPS SCALED by 0.01 in " + run,
			"openmetrics": "# TYPE weir_time_scale gauge",
		}[format]
		if got := written(t, format, doc); want == "" || !strings.Contains(got, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, got)
		}
		doc.Cases[0].Options["time_scale"] = option.Scale(0.5)
		if got := written(t, "table", doc); !strings.HasPrefix(got, "SLEEPS SCALED by 0.5 in "+run+"; by 0.01 in ") {
			t.Errorf("two scales:\n%s", got)
		}
	}
}

// A trace has times and no sleeps.
func TestReportsSayThatTimeOfATraceWasScaled(t *testing.T) {
	doc := read(t, "passed")
	for _, c := range doc.Cases {
		c.Options["time_scale"] = 0.5
	}
	doc.Cases[0].Workload, doc.Cases[0].Run = "serving", "traced"
	if got := scaledBanner(doc); !strings.HasPrefix(got, "SLEEPS SCALED by 0.5 in ") ||
		!strings.HasSuffix(got, "; TIME SCALED by 0.5 in traced: the load differs from the one that the scenario describes") {
		t.Error(got)
	}
}

func TestReportsTellOfRetriedAndResumedLaunches(t *testing.T) {
	doc := read(t, "several")
	for _, format := range []string{"markdown", "table"} {
		got := written(t, format, doc)
		for _, want := range []string{
			"1 launch retried: rank 1 on n1, phase connect: refused; 3 of 4 launches succeeded",
			"2 measurements of cases taken over from session 20261121-100000-several-77aa",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
	}
	got := written(t, "junit", doc)
	for _, want := range []string{
		`name="launches_retried" value="1"`, `name="resumed" value="2 measurements of cases taken over`,
		"retried: rank 1 on n1, phase connect: refused",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("junit does not say %q", want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv", doc))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "retried")
	if column < 0 || rows[1][column] != "1" || rows[len(rows)-1][column] != "0" {
		t.Errorf("retried is in column %d: %v", column, rows[1])
	}
}

// A value of a launch is never made up from the metrics of another case.
func TestJUnitShowsWhatALaunchMeasured(t *testing.T) {
	got := written(t, "junit", read(t, "several"))
	if !strings.Contains(got, "launch 1 on n1, n1: bandwidth 11.00 GB/s") {
		t.Error("the launch of a case compared with another does not show its own metric")
	}
}

// A failed command makes the report red, with what it last wrote.
func TestFailedCommandIsReported(t *testing.T) {
	got := written(t, "table", read(t, "several"))
	if !strings.Contains(got, "! error  teardown umount of the run ring on n1\n    failed: exit status 32\n    | umount: /x: target is busy.\n") {
		t.Errorf("the failed teardown is missing:\n%s", got)
	}
}
