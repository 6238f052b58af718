package reporters

import (
	"bytes"
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
		const cause = "data went over sockets"
		if strings.Contains(without.String(), cause) || !strings.Contains(with.String(), cause) {
			t.Errorf("%s names the cause: %v without evidence, %v with it", format,
				strings.Contains(without.String(), cause), strings.Contains(with.String(), cause))
		}
	}
}
