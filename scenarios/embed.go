// Package scenarios is the catalogue: scenarios that reproduce published benchmarks, embedded in
// the program.
package scenarios

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Entry is one scenario of the catalogue.
type Entry struct {
	Name    string
	File    string // base name; its extension selects the syntax
	Content []byte
}

// Entries returns all scenarios of the catalogue, by name.
func Entries() []Entry {
	list, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded files are valid
	}
	var out []Entry
	for _, f := range list {
		b, err := files.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		out = append(out, Entry{strings.TrimSuffix(f.Name(), path.Ext(f.Name())), f.Name(), b})
	}
	return out
}

// Lookup finds an entry by its name.
func Lookup(name string) (Entry, error) {
	var names []string
	for _, e := range Entries() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("the catalogue has no scenario %q; it has %s", name, strings.Join(names, ", "))
}
