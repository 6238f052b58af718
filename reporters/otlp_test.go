package reporters

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// pointsOf lists the data points of all requests as lines of OpenMetrics, and their number in each.
func pointsOf(doc *results.Document) (lines []string, each []int) {
	for _, request := range OTLP(doc, false) {
		n := 0
		for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range m.GetGauge().DataPoints {
				var labels []string
				for _, a := range p.Attributes {
					labels = append(labels, a.Key+`="`+labelText.Replace(a.Value.GetStringValue())+`"`)
				}
				lines = append(lines, fmt.Sprintf("%s{%s} %s", m.Name, strings.Join(labels, ","), raw(p.GetAsDouble())))
				n++
			}
		}
		each = append(each, n)
	}
	return lines, each
}

// The protocol carries the samples of the OpenMetrics report, all of them and no other.
func TestOTLPHasTheSamplesOfOpenMetrics(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		var b bytes.Buffer
		if err := OpenMetrics(&b, doc); err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(b.String()) {
			if end := strings.LastIndex(line, " "); !strings.HasPrefix(line, "#") {
				v, err := strconv.ParseFloat(strings.TrimSpace(line[end:]), 64)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, line[:end+1]+raw(v))
			}
		}
		got, _ := pointsOf(doc)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d points, want %d", name, len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("%s\nwant %s", got[i], want[i])
				}
			}
		}
	}
}

// Of a session that runs there are metrics and launches, and no verdict.
func TestOTLPOfARunningSession(t *testing.T) {
	var names []string
	for _, m := range OTLP(read(t, documents[0]), true)[0].ResourceMetrics[0].ScopeMetrics[0].Metrics {
		names = append(names, m.Name)
	}
	text := strings.Join(names, " ")
	if !strings.Contains(text, "weir_case_launches") || !strings.Contains(text, "weir_bandwidth") ||
		strings.Contains(text, "verdict") || strings.Contains(text, "exit_code") {
		t.Error(text)
	}
}

// Prometheus adds the unit to the name of a metric, unless the name ends with it.
func TestUnitsOfOTLPAddNothingToNames(t *testing.T) {
	for _, name := range documents {
		for _, request := range OTLP(read(t, name), false) {
			for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
				suffix, known := map[string]string{"": "", "s": "_seconds", "By": "_bytes"}[m.Unit]
				if !known || !strings.HasSuffix(m.Name, suffix) {
					t.Errorf("%s: unit %q", m.Name, m.Unit)
				}
			}
		}
	}
}

func TestOTLPRequestsAreBounded(t *testing.T) {
	doc := &results.Document{}
	for i := range 2000 {
		doc.Cases = append(doc.Cases, &results.Case{Key: fmt.Sprint(i), Status: results.OK})
	}
	lines, each := pointsOf(doc)
	if len(lines) != 6001 || !slices.Equal(each, []int{mostOTLP, 1001}) {
		t.Errorf("%d points in requests of %d", len(lines), each)
	}
}
