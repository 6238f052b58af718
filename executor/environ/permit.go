package environ

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"weir/suggest"
)

// Names of the variables that an agent takes from others although it runs no commands, one
// a line; scripts/environment-lists makes those of UCX and libfabric.
//
//go:embed permitted/*.txt
var permittedLists embed.FS

// permitted are the names of all lists.
var permitted = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	files, err := permittedLists.ReadDir("permitted")
	for _, f := range files {
		var list []byte
		if list, err = permittedLists.ReadFile("permitted/" + f.Name()); err != nil {
			break
		}
		for line := range strings.Lines(string(list)) {
			if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
				names[name] = true
			}
		}
	}
	if err != nil {
		panic(err) // they are part of the program
	}
	return names
})

// Known says whether a version or a build of UCX or libfabric has a variable.
func Known(name string) bool { return permitted()[name] }

// Meant is the variable of UCX or libfabric that a misspelt name most likely is, "" where none is
// near. What stands before its first underscore is right, and does not count.
func Meant(name string) string {
	prefix, rest, ok := strings.Cut(name, "_")
	if !ok {
		return ""
	}
	var rests []string
	for known := range permitted() {
		if of, ours := strings.CutPrefix(known, prefix+"_"); ours {
			rests = append(rests, of)
		}
	}
	slices.Sort(rests)
	if near := suggest.Nearest(rest, rests); near != "" {
		return prefix + "_" + near
	}
	return ""
}

// Policy says which variables an agent takes from the coordinator.
type Policy struct {
	All   bool     // any: it runs commands as well
	Names []string // that its owner permits besides the lists, with any value
}

// Check is why a variable is refused; nil: it is permitted. The error does not have the value.
func (p Policy) Check(name, value string) error {
	if err := p.CheckName(name); err != nil || p.anyValue(name) {
		return err
	}
	if strings.ContainsAny(value, "/`\n") || strings.Contains(value, "$(") {
		return fmt.Errorf(
			"%s has a value with a slash, a backquote, $( or a line break, which this agent refuses", name)
	}
	return nil
}

// CheckName is Check where the value is not known yet.
func (p Policy) CheckName(name string) error {
	if p.anyValue(name) || permitted()[name] {
		return nil
	}
	return fmt.Errorf("%s is none of the variables that this agent takes", name)
}

// CheckRevealed is why the value that a variable has on the node is sent to nobody whom a
// scenario names; nil: it may be.
func (p Policy) CheckRevealed(name string) error {
	if p.anyValue(name) {
		return nil
	}
	return fmt.Errorf("this agent gives the value of %s of its node to nobody", name)
}

func (p Policy) anyValue(name string) bool { return p.All || slices.Contains(p.Names, name) }
