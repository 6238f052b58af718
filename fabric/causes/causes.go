// Package causes finds likely causes of a slow path in a result document. A cause is a file in rules: what is evidence
// for it, how to check it and what to do. A cause without evidence in the document is not reported.
package causes

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/weir-bench/weir/internal/datafile"
	"github.com/weir-bench/weir/results"
)

// Cause is one rule.
type Cause struct {
	Name   string `yaml:"-"` // of its file
	Title  string
	Memory string // kind of memory that a buffer must be in; "": any
	Effect int    // 1: it costs most of a path's bandwidth; 2: a part of it; 3: some percent, or it varies
	// Evidence has one matcher or more; each that matches is reported.
	Evidence []matcher
	Check    string // a command or a place to look at
	Remedy   string // what to do
}

// matcher is one kind of evidence; exactly one of its members is set.
type matcher struct {
	Variable  pattern // an environment variable of the ranks
	Provider  pattern // what the library says of its provider
	Transport pattern // the name of a transport that carried data
	Counter   string  // the class of a counter that moved during a launch (results.Counter)
	Fact      string  // a function in facts
	Seen      string  // what to report; {name} and {value} stand for what matched
}

// pattern matches a name and a value completely; nil: anything.
type pattern struct{ Name, Value *expression }

// expression is a regular expression that matches a whole text.
type expression struct{ *regexp.Regexp }

// UnmarshalYAML compiles it.
func (e *expression) UnmarshalYAML(n *datafile.Node) (err error) {
	e.Regexp, err = regexp.Compile(`^(?:` + n.Value + `)$`)
	return err
}

func (e *expression) matches(text string) bool { return e == nil || e.MatchString(text) }

// Found is a cause for which a document has evidence.
type Found struct {
	Cause
	Seen []string // sentences, in the order of the rule
}

//go:embed rules/*.yaml
var files embed.FS

// All are the causes, sorted by name.
var All = sync.OnceValue(func() []Cause {
	entries, err := files.ReadDir("rules")
	if err != nil {
		panic(err)
	}
	var all []Cause
	for _, e := range entries {
		c := Cause{Name: strings.TrimSuffix(e.Name(), ".yaml")}
		text, err := files.ReadFile(path.Join("rules", e.Name()))
		if err == nil {
			err = datafile.Decode(text, &c)
		}
		if err == nil {
			err = c.valid()
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", e.Name(), err))
		}
		all = append(all, c)
	}
	return all
})

func (c Cause) valid() error {
	if c.Title == "" || c.Check == "" || c.Remedy == "" || len(c.Evidence) == 0 || c.Effect < 1 || c.Effect > 3 {
		return fmt.Errorf("a cause has title, evidence, check, remedy and an effect from 1 to 3")
	}
	for _, m := range c.Evidence {
		if _, known := facts[m.Fact]; m.Fact != "" && !known {
			return fmt.Errorf("there is no fact %q", m.Fact)
		}
	}
	return nil
}

// Of finds causes of a case that moved slowly: those with the largest effect first, and of these those with the most
// evidence.
func Of(doc *results.Document, c *results.Case) []Found {
	var found []Found
	for _, cause := range All() {
		if cause.Memory != "" && c.Options["initiator"] != cause.Memory && c.Options["target"] != cause.Memory &&
			c.Options["memory"] != cause.Memory {
			continue
		}
		f := Found{Cause: cause}
		for _, m := range cause.Evidence {
			for _, seen := range m.match(doc, c) {
				if !slices.Contains(f.Seen, seen) {
					f.Seen = append(f.Seen, seen)
				}
			}
		}
		if len(f.Seen) > 0 {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), cmp.Compare(len(b.Seen), len(a.Seen)))
	})
	return found
}

// match reports what in the launches of a case matches.
func (m matcher) match(doc *results.Document, c *results.Case) (seen []string) {
	if m.Fact != "" {
		return facts[m.Fact](doc, c)
	}
	for _, l := range c.Launches {
		for _, v := range l.Variables {
			if !unread(c, l, v.Name) {
				seen = m.add(seen, m.Variable, v.Name, v.Value)
			}
		}
		for _, p := range l.Provider {
			seen = m.add(seen, m.Provider, p.Name, p.Value)
		}
		for _, t := range l.Transports {
			if t.Use == results.DataUse {
				seen = m.add(seen, m.Transport, t.Name, t.Device)
			}
		}
		for _, n := range l.Counters {
			if m.Counter != "" && n.Class == m.Counter {
				seen = append(seen, m.say(n.Name, fmt.Sprintf("%s on node %s, by %d in %s", n.Device, n.Node, n.By,
					results.LaunchName(l.Index))))
			}
		}
	}
	return seen
}

func (m matcher) add(seen []string, p pattern, name, value string) []string {
	if p == (pattern{}) || !p.Name.matches(name) || !p.Value.matches(value) {
		return seen
	}
	return append(seen, m.say(name, value))
}

func (m matcher) say(name, value string) string {
	return strings.NewReplacer("{name}", name, "{value}", value).Replace(m.Seen)
}
