package planner

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"weir/workload"
)

// resolve gives every case its options and environment.
func resolve(t *Table) {
	for _, s := range t.sheets {
		for _, c := range s.run.Settings() {
			col := column{Setting: c, values: work(s.by(c.Axes), func(i int) any {
				v, diags := c.Value(s.at(s.columns, c.Axes, i))
				t.report(diags...)
				return v
			})}
			col.encode()
			s.settings = append(s.settings, col)
		}
		if !t.diags.HasErrors() {
			t.together(s)
		}
	}
}

// encode writes the fragments that ids are made of.
func (c *column) encode() {
	c.json = make([][]byte, len(c.values.values))
	name := encode(c.Name)
	for k, v := range c.values.values {
		if c.values.first[k] >= 0 && v != nil {
			c.json[k] = append(append(append([]byte{}, name...), ':'), encode(v)...)
		}
	}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans hold only finite numbers, strings and booleans
	}
	return b
}

// together checks what no single option can say.
func (t *Table) together(s *sheet) {
	k := s.run.Workload
	if k.Check == nil {
		return
	}
	work(s.by(s.axesOf(k.Checked)), func(i int) bool {
		if err := k.Check(s.options(i)); err != nil {
			t.report(&hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Options that do not go together",
				Detail:  fmt.Sprintf("Run %q: %s.", s.run.Name, err),
				Subject: s.run.Range.Ptr(),
			})
		}
		return true
	})
}

// options are those of a live case.
func (s *sheet) options(i int) workload.Values {
	out := make(workload.Values, len(s.settings))
	for _, c := range s.settings {
		if v := c.values.at(i); !c.Env && v != nil {
			out[c.Name] = v
		}
	}
	return out
}

// env is the environment of a live case.
func (s *sheet) env(i int) map[string]string {
	out := map[string]string{}
	for _, c := range s.settings {
		if text, ok := c.values.at(i).(string); c.Env && ok {
			out[c.Name] = text
		}
	}
	return out
}
