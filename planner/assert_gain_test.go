package planner

import (
	"fmt"
	"strings"
	"testing"
)

// The baseline variant has no gain over itself: assertions on gains apply to the other variants.
func TestGainsAreOfOthersThanTheBaseline(t *testing.T) {
	const text = "scenario: s\nvariants: {baseline: %s, %s: {x: 1}, new: {x: 2}}\nruns:\n  r:\n    workload: transfer\n" +
		"    options: {block_size: 4KiB, in_flight: '${variant.x}'}\n    sweep: {variant: %s, batch: [1, 2]}\n    assert: ['%s']\n"
	for _, c := range []struct{ base, variants, assert, want, wrong string }{
		{"old", "[old, new]", "gain(bandwidth) >= 1%", "r[batch=1,variant=new] r[batch=2,variant=new]", ""},
		{"old", "[old, new]", "gain(bandwidth) >= 1% where batch == 2 or variant == \"old\"",
			"r[batch=2,variant=new]", ""},
		{"1", "[\"1\"]", "gain(bandwidth) >= 1%", "", "and has another variant than 1"},
		{"old", "[old, new]", "at(variant == \"old\").bandwidth >= 2 * bandwidth", "",
			"The case would be compared with itself. Exclude this case: add where variant != \"old\"."},
		{"1", "[1, new]", "gain(bandwidth) >= 1% where variant == \"1\"", "", "The baseline has no gain over itself"},
	} {
		p, diags := plan(t, "test.yaml", fmt.Sprintf(text, c.base, c.base, c.variants, c.assert))
		var judged []string
		if p != nil {
			for _, one := range p.Cases {
				if len(one.Assertions) > 0 {
					judged = append(judged, one.Key)
				}
			}
		}
		said := ""
		for _, d := range diags {
			said += fmt.Sprint(d.Detail, " ", d.Extra)
		}
		if got := strings.Join(judged, " "); got != c.want || !strings.Contains(said, c.wrong) {
			t.Errorf("%s: %s; %s", c.assert, got, said)
		}
	}
}
