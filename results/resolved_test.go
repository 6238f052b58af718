package results

import (
	"maps"
	"testing"
)

// What follows from other runs is what the launch had; texts that only look like it stay.
func TestSettled(t *testing.T) {
	const name = `run("a").v`
	of := func(values map[string]string) *Case {
		return &Case{
			Options: map[string]any{
				"rate": "${" + name + "}/s", "requests": "${" + name + "}", "model": "${" + name + "}",
			},
			Env:   map[string]string{"A": "$$ ${" + name + "}", "B": "$$ ${" + name + "}"},
			Later: []string{"env.A", "rate", "requests"}, Launches: []*Launch{{Values: values}},
		}
	}
	c := of(map[string]string{name: "12.5"})
	options, env := map[string]any{"rate": "12.5/s", "requests": 12.5, "model": "${" + name + "}"}, c.ResolvedEnv()
	if got := c.ResolvedOptions(); !maps.Equal(got, options) {
		t.Errorf("options %v", got)
	}
	if env["A"] != "$ 12.5" || env["B"] != c.Env["B"] {
		t.Errorf("variables %q", env)
	}
	for _, c := range []*Case{of(nil), {Options: c.Options, Env: c.Env, Later: c.Later}} {
		if !maps.Equal(c.ResolvedOptions(), c.Options) || !maps.Equal(c.ResolvedEnv(), c.Env) {
			t.Errorf("without values: %v, %q", c.ResolvedOptions(), c.ResolvedEnv())
		}
	}
}
