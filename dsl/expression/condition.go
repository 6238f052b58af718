package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/vm"

	"github.com/weir-bench/weir/internal/option"
)

// Condition is a compiled when or where expression. It is safe for concurrent use.
type Condition struct {
	text    string
	names   []string // options, axes and host fields that it uses
	program *vm.Program
}

// CompileCondition compiles a condition without knowing its run, as when a plan is read. Eval
// checks the names.
func CompileCondition(text string) (*Condition, error) {
	c, err := compileCondition(text, nil, true)
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	return c, nil
}

// Where compiles a condition over the options and axes of the run.
func (n *Names) Where(text string) (*Condition, *Error) { return compileCondition(text, n, false) }

// When compiles the condition of a run, which may use host facts.
func (n *Names) When(text string) (*Condition, *Error) { return compileCondition(text, n, true) }

// Text returns the condition as it was written.
func (c *Condition) Text() string { return c.text }

// Names returns the options, axes and host fields (host.gpus) that the condition uses, without
// duplicates, in order.
func (c *Condition) Names() []string { return slices.Clone(c.names) }

// UsesHost reports whether the condition can be evaluated only on a host.
func (c *Condition) UsesHost() bool { return slices.ContainsFunc(c.names, isHost) }

func isHost(name string) bool { return name == "host" || strings.HasPrefix(name, "host.") }

// evaluation holds the reusable state of one Eval: planning evaluates conditions millions of times.
type evaluation struct {
	machine vm.VM
	env     map[string]any
}

// memoryBudget bounds the elements of the lists that one evaluation creates.
const memoryBudget = 100_000

var evaluations = sync.Pool{New: func() any {
	return &evaluation{machine: vm.VM{MemoryBudget: memoryBudget}, env: map[string]any{}}
}}

// Eval evaluates the condition for a case.
func (c *Condition) Eval(s Scope) (bool, error) {
	e := evaluations.Get().(*evaluation)
	defer evaluations.Put(e)
	clear(e.env)
	for _, name := range c.names {
		if err := s.bind(e.env, name); err != nil {
			return false, fmt.Errorf("condition %q: %w", c.text, err)
		}
	}
	v, err := e.machine.Run(c.program, e.env)
	if name := nullOf(e.env); err != nil && name != "" {
		return false, fmt.Errorf("condition %q: %s is null here: check %s == null first", c.text, name, name)
	}
	if err != nil {
		return false, fmt.Errorf("condition %q: %s", c.text, plain(err).Message)
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("condition %q is %v, not true or false", c.text, v)
	}
	return b, nil
}

// nullOf returns a variable that is unset, "" if there is none.
func nullOf(env map[string]any) string {
	variables, _ := env["env"].(map[string]any)
	for name, v := range variables {
		if v == nil {
			return "env." + name
		}
	}
	return ""
}

// bind sets a name to its value in base units.
func (s Scope) bind(env map[string]any, name string) error {
	switch {
	case isHost(name):
		return s.bindHost(env, name)
	case strings.HasPrefix(name, "env."):
		v, ok := s.Axes[name]
		if !ok {
			break
		}
		variables, ok := env["env"].(map[string]any)
		if !ok {
			variables = map[string]any{}
			env["env"] = variables
		}
		variables[strings.TrimPrefix(name, "env.")] = base(v)
		return nil
	default:
		if v, ok := s.knob(name); ok {
			env[name] = base(v)
			return known(name, v)
		}
	}
	return fmt.Errorf("the case has no %s", name)
}

// known returns an error if the value of an option is not known at planning.
func known(name string, v any) error {
	if later, ok := v.(option.Deferred); ok {
		return fmt.Errorf("%s is %s, which is known only when that run has a result", name, later)
	}
	return nil
}

func (s Scope) bindHost(env map[string]any, name string) error {
	h := s.Host
	if h == nil {
		return fmt.Errorf("it uses the host, which is not known yet")
	}
	if name != "host" && !slices.Contains(hostFields, name) {
		return fmt.Errorf("the case has no %s", name)
	}
	if _, bound := env["host"]; !bound {
		env["host"] = map[string]any{
			"fabrics": h.Fabrics, "backends": h.Backends, "nodes": float64(h.Nodes),
			"gpus": float64(h.GPUs), "cpus": float64(h.CPUs),
		}
	}
	return nil
}

// knob returns the value of an option, or of an axis if no option has the name.
func (s Scope) knob(name string) (any, bool) {
	if v, ok := s.Options[name]; ok {
		return v, true
	}
	v, ok := s.Axes[name]
	return v, ok
}

// base converts a number to base units, and returns other values unchanged.
func base(v any) any {
	if n, ok := option.Number(v); ok {
		return n
	}
	return v
}
