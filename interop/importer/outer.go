package importer

import (
	"path"
	"slices"
	"strings"
)

// outer is a command that starts the commands of a text elsewhere or several times, as a launcher before bash -c.
type outer struct {
	words      []string
	launch     launcherCall
	ofWrappers []Note
	argument   bool // the text is one of its words
	lines      int  // calls of tools in the text
	within     *outer
}

// startsElsewhere reports whether words before a tool say where it runs, or how often. A job of sbatch is a script.
func startsElsewhere(words []string) bool {
	return path.Base(words[0]) != "sbatch" && slices.ContainsFunc(words, func(w string) bool {
		name := path.Base(w)
		return isWrapper(w) && !slices.Contains(neutralWrappers, name) && !pythonName().MatchString(name)
	})
}

// readsText adds the command to a line that reads a text.
func (l *Line) readsText(words []string, argument bool, within *outer) {
	l.outer = within
	if startsElsewhere(words) {
		l.outer = &outer{words: words, launch: l.launch, ofWrappers: l.ofWrappers, argument: argument, within: within}
		return
	}
	l.notes = append(l.notes, l.ofWrappers...)
}

// in gives a line what the commands around its text say.
func (l *Line) in(of *outer) {
	l.outer = of
	for ; of != nil; of = of.within {
		of.lines++
		l.ofWrappers = slices.Concat(of.ofWrappers, l.ofWrappers)
		if l.launch.by == "" {
			l.launch = of.launch
		}
	}
}

// same reports whether commands have the same words.
func (o *outer) same(other *outer) bool {
	if o == nil || other == nil {
		return o == other
	}
	return slices.Equal(o.words, other.words) && o.within.same(other.within)
}

// wholeWords returns all words of the command line, with what starts it: a run of them needs no notes of that.
func (c *call) wholeWords() list {
	c.ofWrappers = nil
	words := c.whole
	for of := c.outer; of != nil; of = of.within {
		if words = of.words; !of.argument || of.lines > 1 {
			c.fail("%s starts the commands of a text: write the command line of %s after it, without a shell between",
				strings.Join(words[:min(3, len(words))], " "), c.program())
		}
	}
	return literals(words...)
}
