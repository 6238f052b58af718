package expression

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/vm"

	"weir/workload"
)

// Condition is a compiled when or where expression. It may be evaluated by
// several goroutines at once.
type Condition struct {
	text    string
	names   []string // options, axes and host fields that it mentions
	program *vm.Program
}

// CompileCondition compiles a condition without knowing the run that it is
// about, as when a plan is read; names are then checked by Eval.
func CompileCondition(text string) (*Condition, error) {
	c, err := compileCondition(text, nil, true)
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	return c, nil
}

// Where compiles a condition over the options and axes of the run.
func (n *Names) Where(text string) (*Condition, *Error) { return compileCondition(text, n, false) }

// When compiles the condition of a run, which may also ask about the host.
func (n *Names) When(text string) (*Condition, *Error) { return compileCondition(text, n, true) }

// Text is the condition as it was written.
func (c *Condition) Text() string { return c.text }

// Names are the options, axes and host fields (host.gpus) that the condition
// mentions, each once, in order.
func (c *Condition) Names() []string { return slices.Clone(c.names) }

// UsesHost says whether the condition can only be decided on a host.
func (c *Condition) UsesHost() bool { return slices.ContainsFunc(c.names, isHost) }

func isHost(name string) bool { return name == "host" || strings.HasPrefix(name, "host.") }

// evaluation is what one Eval needs. Planning evaluates conditions by the
// million, so its parts are used again.
type evaluation struct {
	machine vm.VM
	env     map[string]any
}

// memoryBudget bounds the elements of the lists that one evaluation makes.
const memoryBudget = 100_000

var evaluations = sync.Pool{New: func() any {
	return &evaluation{machine: vm.VM{MemoryBudget: memoryBudget}, env: map[string]any{}}
}}

// Eval decides the condition for a case.
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
		return false, fmt.Errorf("condition %q: %s is null there: ask first whether %s == null", c.text, name, name)
	}
	if err != nil {
		return false, fmt.Errorf("condition %q: %s", c.text, plain(err).Message)
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("condition %q gives %v, not true or false", c.text, v)
	}
	return b, nil
}

// nullOf is a variable that is left unset, "" if there is none.
func nullOf(env map[string]any) string {
	variables, _ := env["env"].(map[string]any)
	for name, v := range variables {
		if v == nil {
			return "env." + name
		}
	}
	return ""
}

// bind gives a name its value, in base units.
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

// known is an error for an option whose value is not known while a scenario is planned.
func known(name string, v any) error {
	if later, ok := v.(workload.Deferred); ok {
		return fmt.Errorf("%s is %s, which is known only when that run is decided", name, later)
	}
	return nil
}

func (s Scope) bindHost(env map[string]any, name string) error {
	h := s.Host
	if h == nil {
		return fmt.Errorf("it asks about the host, which is not known yet")
	}
	if name != "host" && !slices.Contains(hostFields, name) {
		return fmt.Errorf("the case has no %s", name)
	}
	if _, bound := env["host"]; !bound {
		env["host"] = map[string]any{
			"fabrics": h.Fabrics, "nodes": float64(h.Nodes), "gpus": float64(h.GPUs), "cpus": float64(h.CPUs),
		}
	}
	return nil
}

// knob is the value of an option or, where none has the name, of an axis.
func (s Scope) knob(name string) (any, bool) {
	if v, ok := s.Options[name]; ok {
		return v, true
	}
	v, ok := s.Axes[name]
	return v, ok
}

// base is a number in base units; other values stay.
func base(v any) any {
	if n, ok := workload.Number(v); ok {
		return n
	}
	return v
}
