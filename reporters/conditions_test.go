package reporters

import (
	"slices"
	"testing"

	"weir/results"
	"weir/workload"
)

// Structures stand in reports as a person writes them, in tables and on the page.
func TestOptionsOfStructure(t *testing.T) {
	c := &results.Case{Workload: "serving", Options: map[string]any{
		"model": "m", "requests": int64(120), "slo": `{"ttft":"60ms","itl":"8 ms"}`, "input": `{"tokens":"fixed:64"}`,
	}}
	want := `input={tokens: fixed:64} model=m requests=120 slo={ttft: 60ms, itl: "8 ms"}`
	if got := optionsText(c, true); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	kind, _ := workload.Lookup("serving")
	told := map[string]string{}
	for _, o := range optionsOf(kind, []*results.Case{c}) {
		told[o.name] = o.values[0]
	}
	if told["slo"] != `{ttft: 60ms, itl: "8 ms"}` || told["input"] != "{tokens: fixed:64}" ||
		told["requests"] != "120" {
		t.Errorf("the page has %v", told)
	}
}

// Where no launch of a case counts, a reader learns how to have them counted.
func TestVoidLaunches(t *testing.T) {
	void := &results.Launch{Void: "the hypervisor gave 14 % of the busy time of node a's processors to others"}
	doc := &results.Document{Cases: []*results.Case{
		{Key: "all", Launches: []*results.Launch{void, void}}, {Key: "one", Launches: []*results.Launch{void, {}}},
	}}
	want := []string{
		"all: 2 of 2 launches void, not counted (--disturbed keep counts them); the last: " + void.Void,
		"one: 1 of 2 launches void, not counted; the last: " + void.Void,
	}
	if got := voidLaunches(doc); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
