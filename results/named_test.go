package results_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

// Named does what a map does, in the order of the names.
func TestNamedIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "a", "b", "bandwidth", "bandwidth.min_rank", "<&>", "größer", "\"", "z"})
		want := rapid.MapOf(name, rapid.Float64Range(-1e9, 1e9)).Draw(t, "members")
		got := results.NamedOf(want)
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			n := name.Draw(t, "name")
			if rapid.Bool().Draw(t, "set") {
				want[n] = rapid.Float64Range(-1, 1).Draw(t, "value")
				got.Set(n, want[n])
			} else {
				delete(want, n)
				got.Delete(n)
			}
		}
		if !maps.Equal(want, maps.Collect(got.All())) || got.Len() != len(want) || got.IsZero() != (len(want) == 0) ||
			!slices.IsSorted(got.Names()) || len(got.Values()) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		n := name.Draw(t, "sought")
		v, ok := got.Get(n)
		if w, has := want[n]; ok != has || v != w || got.At(n) != w {
			t.Fatalf("%q is %v, %v, want %v, %v", n, v, ok, w, has)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if as, err := json.Marshal(want); err != nil || string(text) != string(as) {
			t.Fatalf("written %s, as a map %s, %v", text, as, err)
		}
		var back results.Named[float64]
		if err := json.Unmarshal(text, &back); err != nil || !maps.Equal(want, maps.Collect(back.All())) {
			t.Fatalf("read %v, want %v: %v", back, want, err)
		}
	})
}

// Those that share their names do not see each other's.
func TestNamedShareNamesOnly(t *testing.T) {
	names := []string{"a", "c"}
	one := results.NamedList(names[:2:2], []float64{1, 3})
	other := results.NamedList(names[:2:2], []float64{10, 30})
	one.Set("b", 2)
	one.Delete("a")
	other.Set("d", 40)
	if want := (map[string]float64{"b": 2, "c": 3}); !maps.Equal(maps.Collect(one.All()), want) {
		t.Errorf("%v, want %v", one, want)
	}
	if want := (map[string]float64{"a": 10, "c": 30, "d": 40}); !maps.Equal(maps.Collect(other.All()), want) {
		t.Errorf("%v, want %v", other, want)
	}
}

// What JSON cannot say is an error and no document.
func TestNamedRefusesWhatHasNoText(t *testing.T) {
	if text, err := json.Marshal(results.NamedOf(map[string]any{"a": 1, "b": func() {}})); err == nil {
		t.Errorf("written as %s", text)
	}
}
