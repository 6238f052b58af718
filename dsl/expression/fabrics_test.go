package expression

import (
	"slices"
	"testing"
)

func TestConditionFabrics(t *testing.T) {
	for _, c := range []struct {
		text  string
		names []string
		ok    bool
	}{
		{"fabric in host.fabrics", nil, true},
		{"block_size > 1MiB", nil, true},
		{`"ucx" in host.fabrics && fabric in host.fabrics`, []string{"ucx"}, true},
		{`not ("ucx" in host.fabrics)`, []string{"ucx"}, true},
		{"len(host.fabrics) > 2", nil, false},
		{"op in host.fabrics", nil, false},
		{`any(host.fabrics, # == "tcp")`, nil, false},
	} {
		cond, err := CompileCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		names, ok := cond.Fabrics()
		if ok != c.ok || ok && !slices.Equal(names, c.names) {
			t.Errorf("%s: %v, %v, want %v, %v", c.text, names, ok, c.names, c.ok)
		}
	}
}
