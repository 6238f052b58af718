package quantity

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTypedQuantities(t *testing.T) {
	read := map[string]func(string) (fmt.Stringer, error){
		"time":    func(s string) (fmt.Stringer, error) { return ReadTime(s) },
		"rate":    func(s string) (fmt.Stringer, error) { return ReadRate(s) },
		"percent": func(s string) (fmt.Stringer, error) { return ReadPercent(s) },
	}
	for _, c := range []struct{ kind, text, want, wrong string }{
		{"time", "2us", "2us", ""},
		{"time", "1.5 ms", "1500us", ""},
		{"time", "1m", "60s", ""},
		{"time", "0", "0s", ""},
		{"time", "2", "", "no unit"},
		{"time", "2 GB/s", "", "not a time"},
		{"rate", "10 GB/s", "10GB/s", ""},
		{"rate", "100 Gbps", "12.5GB/s", ""},
		{"rate", "1GiB/s", "1.073741824GB/s", ""},
		{"rate", "0", "0B/s", ""},
		{"rate", "10", "", "write 10GB/s"},
		{"rate", "10 GB", "", "is a size"},
		{"percent", "3%", "3%", ""},
		{"percent", "0.1 %", "0.1%", ""},
		{"percent", "0", "0%", ""},
		{"percent", "0.03", "", "no unit: write 0.03%"},
		{"percent", "3s", "", "is a time"},
		{"percent", "NaN%", "", "not a number"},
	} {
		v, err := read[c.kind](c.text)
		switch {
		case c.wrong == "" && (err != nil || v.String() != c.want):
			t.Errorf("%s %q reads as %v, %v; want %s", c.kind, c.text, v, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %q: error %v, want %q", c.kind, c.text, err, c.wrong)
		}
	}
}

// Values survive JSON unchanged, so that digests stay valid.
func TestTypedQuantitiesSurviveJSON(t *testing.T) {
	type all struct {
		T Time
		R Rate
		P Percent
	}
	rapid.Check(t, func(t *rapid.T) {
		in := all{
			Time(rapid.Int64Range(0, 1<<50).Draw(t, "time")),
			Rate(Round(rapid.Float64Range(0, 1e15).Draw(t, "rate"))),
			Percent(Round(rapid.Float64Range(0, 10).Draw(t, "percent"))),
		}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out all
		if err := json.Unmarshal(b, &out); err != nil || out != in {
			t.Fatalf("%s came back as %+v, %v; was %+v", b, out, err, in)
		}
	})
}
