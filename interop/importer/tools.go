package importer

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weir-bench/weir/internal/datafile"
)

// toolData is a file of tools/: the flags of a tool and their mapping.
type toolData struct {
	Doc      string
	Programs []string // names of the program; nil: the tool's name
	Style    style
	TwoSided bool `yaml:"two_sided"` // a server, and a client that names the server's address
	Flags    []flag
	Passed   []string // flags that it passes to nixlbench unchanged
	Tests    map[string]test
}

// style is the syntax of a tool's command line.
type style string

const (
	gflags   style = "gflags"   // -name value, --name=value, --noname; dashes and underscores are equal
	getopt   style = "getopt"   // -f, -s8, -s 8, -fN, --name value, --name=value, prefixes of names
	argparse style = "argparse" // --name value, --name=value, prefixes of names
	words    style = "words"    // the tool's function reads the words
)

// valueKind is the type of a flag's value.
type valueKind string

const (
	nothing valueKind = ""        // no value
	boolean valueKind = "boolean" // true or false; without a value it is true
	number  valueKind = "number"  // a whole number from 0
	decimal valueKind = "decimal" // a number from 0, or inf
	text    valueKind = "text"
	several valueKind = "words" // all words up to the next flag
)

// flag is one flag of a tool. Exactly one of Option to Unmapped is set; those after Variable are
// explanations for people.
type flag struct {
	Names   alternatives `yaml:"flag"` // the long one first, without dashes
	Takes   valueKind
	Default string

	Option      string            // of the workload
	Variable    string            // of the run's environment
	Values      map[string]string // maps values of the flag to values of the option or the variable; nil: the same
	Used        string            // evaluated by the tool's function
	Ignored     string            // no influence on the measurement
	Unavailable string            // not measured by this version of weir
	Unmapped    string            // changes the measurement, without equivalent
	Secret      bool
	Needed      bool // the tool refuses a command line without it
	// Shell says what becomes of a value that only a shell knows: "unneeded" by the run, or a "variable" of the
	// scenario; "": it is an error.
	Shell string

	fate fate
	says string // the text of its fate
}

// alternatives are names separated by |.
type alternatives []string

func (a *alternatives) UnmarshalText(text []byte) error {
	*a = names(string(text))
	return nil
}

func names(s string) []string { return strings.Split(s, "|") }

// test is what a program, or an argument that names a test, measures.
type test struct {
	API, Op, Mode            string
	Window, Iterations, Size int64  // defaults, without flags
	None                     string // why weir has no equivalent
}

// fate is the mapping of a flag.
type fate int

const (
	asOption fate = iota
	asVariable
	used
	ignored
	unavailable
	unmapped
)

// setFate sets the fate of a flag.
func (f *flag) setFate() error {
	found := 0
	for n, says := range []string{f.Option, f.Variable, f.Used, f.Ignored, f.Unavailable, f.Unmapped} {
		if says != "" {
			found++
			f.fate, f.says = fate(n), says
		}
	}
	switch {
	case found != 1:
		return fmt.Errorf("flag %s has %d fates", f.Names, found)
	case !slices.Contains([]valueKind{nothing, boolean, number, decimal, text, several}, f.Takes):
		return fmt.Errorf("flag %s takes %q", f.Names, f.Takes)
	}
	return nil
}

//go:embed tools/*.yaml
var files embed.FS

// loadTools reads the files of all tools on first use.
var loadTools = sync.OnceFunc(func() {
	for _, t := range withOthers(slices.Concat(tools, scriptTools)) {
		text, err := files.ReadFile("tools/" + t.name + ".yaml")
		if err == nil {
			err = t.load(text)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", t.name, err))
		}
	}
})

func (t *tool) load(text []byte) error {
	if err := datafile.Decode(text, &t.toolData); err != nil {
		return err
	}
	if !slices.Contains([]style{gflags, getopt, argparse, words}, t.Style) {
		return fmt.Errorf("there is no style %q", t.Style)
	}
	for i := range t.Flags {
		if err := t.Flags[i].setFate(); err != nil {
			return err
		}
	}
	for _, name := range t.Passed {
		f := *nixlbench.flag(name)
		f.says, f.fate, f.Values = "as of nixlbench", used, nil
		if f.Takes == boolean && t.Style == argparse {
			f.Takes = nothing
		}
		t.Flags = append(t.Flags, f)
	}
	return nil
}
