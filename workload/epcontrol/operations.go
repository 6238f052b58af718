package epcontrol

import "slices"

// Cycle is the operation that runs all operations, one after the other.
const Cycle = "cycle"

// operation is a timed operation of a rank, with its steps in order.
type operation struct {
	name  string
	steps []string
}

var connecting = []string{"publish", "wait", "import", "first_touch"}

var operations = []operation{
	{"init", []string{"open", "alloc", "clear", "register"}},
	{"connect", connecting},
	{"disconnect", []string{"quiesce", "unmap"}},
	{"reconnect", connecting},
	{"destroy", []string{"unregister", "free"}},
}

// Operations returns the names of all operations in the order of a round.
func Operations() (list []string) {
	for _, o := range operations {
		list = append(list, o.name)
	}
	return list
}

// StepsOf returns the steps of an operation.
func StepsOf(name string) []string {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	return operations[i].steps
}

// Turn is an operation of a round: timed, or only a precondition.
type Turn struct {
	Name  string
	Timed bool
}

// Turns returns the operations of a round in order.
func (s *Spec) Turns() (turns []Turn) {
	before := map[string][]string{
		"connect": {"init"}, "disconnect": {"init", "connect"}, "reconnect": {"init", "connect", "disconnect"},
		"destroy": {"init", "connect"},
	}
	names := append(slices.Clone(before[s.Operation]), s.Operation, "destroy")
	if s.Operation == Cycle {
		names = Operations()
	}
	for _, name := range slices.Compact(names) {
		turns = append(turns, Turn{name, s.Operation == Cycle || name == s.Operation})
	}
	return turns
}
