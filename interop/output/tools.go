package output

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

//go:embed tools/*.yaml
var files embed.FS

// formats are the formats by name, each read from its file on first use.
var formats = sync.OnceValue(func() map[string]func() Format {
	entries, err := files.ReadDir("tools")
	if err != nil {
		panic(err)
	}
	all := map[string]func() Format{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		all[name] = sync.OnceValue(func() Format {
			text, err := files.ReadFile(path.Join("tools", e.Name()))
			if err != nil {
				panic(err)
			}
			f, err := load(name, text)
			if err != nil {
				panic(fmt.Errorf("%s: %w", e.Name(), err))
			}
			return f
		})
	}
	return all
})

// Names returns the names of all formats, sorted.
func Names() []string { return sortedNames(formats()) }

// Formats returns all formats, sorted by name.
func Formats() []Format {
	var all []Format
	for _, name := range Names() {
		all = append(all, formats()[name]())
	}
	return all
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	f, ok := formats()[name]
	if !ok {
		return Format{}, false
	}
	return f(), true
}
