package reporters

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// A failed assertion about a path has the causes for which the session has evidence, in every format for people.
func TestFailedPathsHaveLikelyCauses(t *testing.T) {
	for _, format := range []string{"table", "markdown", "html", "junit", "github"} {
		doc := read(t, "failed")
		r, _ := Lookup(format)
		var without, with bytes.Buffer
		if err := r.Write(&without, doc); err != nil {
			t.Fatal(err)
		}
		for _, c := range doc.Cases {
			for _, l := range c.Launches {
				l.Variables = append(l.Variables,
					results.Variable{Name: "UCX_TLS", Value: "tcp,self", From: results.FromScenario})
			}
		}
		if err := r.Write(&with, doc); err != nil {
			t.Fatal(err)
		}
		if format == "table" {
			atMostFourLines(t, with.String())
		}
		const cause = "data went over sockets"
		if strings.Contains(without.String(), cause) || !strings.Contains(with.String(), cause) {
			t.Errorf("%s names the cause: %v without evidence, %v with it", format,
				strings.Contains(without.String(), cause), strings.Contains(with.String(), cause))
		}
	}
}

// A likely cause of several findings is described once; the later ones refer to the first.
func TestLikelyCausesAreDescribedOnce(t *testing.T) {
	sockets := likelyCause{seen: "sockets", check: "log", remedy: "links"}
	numa := likelyCause{seen: "numa", check: "lscpu", remedy: "pin"}
	both, last := []likelyCause{sockets, numa}, []string{"last time: 3"}
	list := []finding{
		{where: "a", beside: last, likely: both}, {where: "b", beside: last, likely: both}, {where: "c"},
	}
	nameCausesOnce(list)
	if want := []string{"last time: 3", "likely cause: as for a"}; !slices.Equal(list[1].context(), want) ||
		list[0].context()[1] != "likely cause: sockets; check: log; remedy: links" || list[2].context() != nil {
		t.Errorf("got %+v", list)
	}
	const brief = "likely cause: sockets; remedy: links; 1 further cause in report.md"
	if got := inBrief(list[0].likely); got != brief || inBrief(list[1].likely) != "likely cause: as for a" {
		t.Errorf("got %q, %q", got, inBrief(list[1].likely))
	}
}

// atMostFourLines checks the findings of a terminal that breaks no lines.
func atMostFourLines(t *testing.T, text string) {
	t.Helper()
	found, n := 0, 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "✗ fail  ") || strings.HasPrefix(line, "? inconclusive  "):
			found, n = found+1, 1
		case n > 0 && strings.HasPrefix(line, "    "):
			if n++; n > 4 {
				t.Errorf("a finding has more than four lines: %s", line)
			}
		default:
			n = 0
		}
	}
	if found < 3 {
		t.Errorf("%d findings in\n%s", found, text)
	}
}
