package reporters

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Agents of one machine are nodes between which nothing crosses a network: that is said of launches that used both.
func TestNodesOnOneHost(t *testing.T) {
	doc := &results.Document{Environment: results.Environment{Nodes: []results.Node{
		{Name: "a1"}, {Name: "a2", SameHost: "a1"}, {Name: "a3", SameHost: "a1"}, {Name: "b"},
	}}}
	add := func(key string, nodes ...string) {
		l := &results.Launch{Nodes: nodes}
		doc.Cases = append(doc.Cases, &results.Case{Key: key, Launches: []*results.Launch{l, l}})
	}
	add("one", "a1", "a1")
	add("far", "a1", "b")
	if got := oneHost(doc); len(got) > 0 {
		t.Error(got)
	}
	add("near", "a2", "b", "a1", "a2")
	add("all", "a1", "a2", "a3")
	want := []string{
		"nodes a1 and a2 are one host: nothing between them crosses a network (1 case)",
		"nodes a1, a2 and a3 are one host: nothing between them crosses a network (1 case)",
	}
	got := oneHost(doc)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
