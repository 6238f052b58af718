package expression

func (a *Assertion) AxisNames() (out []string) {
	for _, x := range a.names.Axes {
		out = append(out, x.Name)
	}
	return
}
func (c *Condition) Names() []string { return c.names }
