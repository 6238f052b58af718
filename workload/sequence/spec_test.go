package sequence

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

func pattern(t *testing.T, values option.Values) *move.Spec {
	t.Helper()
	o, err := Decode(values)
	if err != nil {
		t.Fatal(err)
	}
	return &o
}

// A pattern is planned when all earlier patterns that share a rank with it have slept; without overlap, when all
// earlier patterns have.
func TestSchedule(t *testing.T) {
	const ms = quantity.Time(1e6)
	plan := func(overlap bool, scale option.Scale) (patterns []*move.Spec) {
		for i, p := range []struct {
			matrix        string
			before, after quantity.Time
		}{
			{"4: 0>1=1", 10 * ms, 1 * ms},
			{"4: 2>3=1", 3 * ms, 0},
			{"4: 1>2=1", 5 * ms, 2 * ms},
			{"4: 3>2=1", 0, 0},
		} {
			patterns = append(patterns, pattern(t, option.Values{
				"matrix": p.matrix, "pattern": int64(i), "overlap": overlap, "time_scale": scale,
				"sleep_before_launch": p.before, "sleep_after_launch": p.after,
			}))
		}
		return patterns
	}
	for _, c := range []struct {
		overlap bool
		scale   option.Scale
		due     []quantity.Time
		whole   quantity.Time
	}{
		{true, 1, []quantity.Time{10 * ms, 3 * ms, 16 * ms, 18 * ms}, 18 * ms},
		{false, 1, []quantity.Time{10 * ms, 14 * ms, 19 * ms, 21 * ms}, 21 * ms},
		{false, 0.5, []quantity.Time{5 * ms, 7 * ms, 19 * ms / 2, 21 * ms / 2}, 21 * ms / 2},
		{true, 0, []quantity.Time{0, 0, 0, 0}, 0},
	} {
		patterns := plan(c.overlap, c.scale)
		if whole := Schedule(patterns); whole != c.whole {
			t.Errorf("overlap %v, scale %v: an iteration sleeps %v, want %v", c.overlap, c.scale, whole, c.whole)
		}
		for i, p := range patterns {
			if p.Step.Due != c.due[i] {
				t.Errorf("overlap %v, scale %v: pattern %d is due at %v, want %v", c.overlap, c.scale, i, p.Step.Due,
					c.due[i])
			}
		}
	}
	var years []*move.Spec
	for i := range 1000 {
		years = append(years, pattern(t, option.Values{
			"matrix": "2: 0>1=1", "pattern": int64(i), "sleep_before_launch": quantity.Time(move.MaxSleep),
		}))
	}
	if whole := Schedule(years); whole <= 0 || whole*4096 <= 0 {
		t.Errorf("a thousand years are %v, and 4096 times that %v", whole, whole*4096)
	}
	if Schedule(nil) != 0 {
		t.Error("no patterns sleep")
	}
}

func TestDecodeSequence(t *testing.T) {
	o := pattern(t, option.Values{
		"matrix": "3: 0>1=5", "iterations": int64(7), "isolated_iterations": int64(9), "isolated_warmup": int64(2),
		"warmup": int64(4), "op": "read", "shards": int64(3),
	})
	if o.Iterations != 9 || o.Warmup != 2 || o.Step.Iterations != 7 || o.Step.Warmup != 4 || !o.Step.Overlap ||
		o.Ranks != 3 || o.Op != "read" || o.Shards != 3 {
		t.Errorf("%+v, %+v", o, o.Step)
	}
	if m := o.Members(); len(m) != 2 || m[0] != 0 || m[1] != 1 {
		t.Errorf("members %v", m)
	}
	for want, v := range map[string]option.Values{
		"option matrix":                   {},
		"matrix of pattern 4 has 2 ranks": {"matrix": "2: 0>1=5", "ranks": int64(3), "pattern": int64(4)},
		"a sleep is from 0s": {
			"matrix": "2: 0>1=5", "sleep_before_launch": quantity.Time(86400e9), "time_scale": option.Scale(1000),
		},
		"fabric sim has no model of a matrix":   {"matrix": "2: 0>1=5", "fabric": "sim"},
		"option time_scale is float64":          {"matrix": "2: 0>1=5", "time_scale": 2.},
		"option overlap is string":              {"matrix": "2: 0>1=5", "overlap": "yes"},
		"option sleep_after_launch is int64":    {"matrix": "2: 0>1=5", "sleep_after_launch": int64(5)},
		"api tag of fabric ucx posts receives ": {"matrix": "2: 0>1=5", "fabric": "ucx", "api": "tag"},
	} {
		if o, err := Decode(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %+v, %v; want %q", v, o, err, want)
		}
	}
}

func TestFactors(t *testing.T) {
	o, _ := Kind.Option("time_scale")
	for text, want := range map[string]option.Scale{"1": 1, "0.01": 0.01, "1%": 0.01, "0": 0, "2.50": 2.5} {
		if v, err := o.Parse(text); err != nil || v != want || option.Text(v) == "" {
			t.Errorf("%s is %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", "-1", "1e3", "inf", "nan", "0x1", "1001", "1s", "2000000%", "%"} {
		if v, err := o.Parse(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}
