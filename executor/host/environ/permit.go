package environ

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weir-bench/weir/internal/suggest"
)

// permittedLists are the names of the variables that an agent accepts without --allow-commands, one per
// line; scripts/environment-lists generates those of UCX and libfabric.
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
		panic(err) // embedded
	}
	return names
})

// Known reports whether a variable is in the lists.
func Known(name string) bool { return permitted()[name] }

// Meant is the nearest variable in the lists with the same prefix (up to the first underscore), or "".
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

// Policy are the variables that an agent accepts from the coordinator.
type Policy struct {
	All   bool     // with --allow-commands
	Names []string // permitted besides the lists, with any value
}

// Check refuses a variable that is not permitted. The error does not contain the value.
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

// CheckName is Check without the value.
func (p Policy) CheckName(name string) error {
	if p.anyValue(name) || permitted()[name] {
		return nil
	}
	return fmt.Errorf("%s is none of the variables that this agent takes", name)
}

// CheckRevealed refuses to send a variable's value on this node to a peer that a scenario names.
func (p Policy) CheckRevealed(name string) error {
	if p.anyValue(name) {
		return nil
	}
	return fmt.Errorf("this agent gives the value of %s of its node to nobody", name)
}

func (p Policy) anyValue(name string) bool { return p.All || slices.Contains(p.Names, name) }
