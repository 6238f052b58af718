package importer

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Fate says what became of one command of a script.
type Fate struct {
	Line    int
	Command string
	Became  string
	wrong   error // why it is not imported although it runs a tool; nil: it is, or it runs none
}

// Script converts a script, or a command line if file is "", to a scenario with a run for each call of a
// tool that weir knows, and tells the fate of each command. Lines that cannot be imported are an error; the scenario of
// a script then has the others, and says so.
func Script(file, text string, o Options) (*Imported, error) {
	loadTools()
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > maxText {
		return nil, fmt.Errorf("this is not UTF-8 text of at most %d bytes", maxText)
	}
	s := &script{tools: slices.Concat(tools, scriptTools), file: file, any: true, unsureLoop: outside, read: o.Read,
		jobsOf: newJobs()}
	if err := s.readAll(text); err != nil {
		return nil, err
	}
	made := &Imported{Fates: slices.Clone(s.fates)}
	slices.SortStableFunc(made.Fates, func(a, b *Fate) int { return a.Line - b.Line })
	var runs []*run
	var names []string
	var first []*call
	var wrong []error
	callOf := map[*run]*call{}
	for _, f := range s.fates {
		if f.wrong != nil && !o.SkipUnmapped {
			wrong, f.Became = append(wrong, f.wrong), lineNot
		}
	}
	type read struct {
		tool  *tool
		lines []Line
		calls []*call
		notes []Note
		err   error
	}
	var all []*read
	for _, t := range s.tools {
		var lines []Line
		for _, l := range s.lines {
			if l.tool == t {
				lines = append(lines, l)
			}
		}
		if lines == nil {
			continue
		}
		lines, err := readable(t, lines, o)
		if err != nil {
			wrong = append(wrong, err)
		}
		if len(lines) == 0 {
			continue
		}
		r := &read{tool: t, lines: lines}
		r.calls, r.notes, r.err = t.calls(lines, o)
		all, first = append(all, r), append(first, r.calls...)
	}
	tellTogether(first)
	first = nil
	for _, r := range all {
		var of []*run
		var more []Note
		err := r.err
		if err == nil {
			of, more, err = convert(r.calls, o, len(s.lines) > 1)
		}
		if err != nil {
			for _, l := range r.lines {
				l.fate.Became = o.notImported(err, l.at)
			}
			if !o.SkipUnmapped {
				wrong = append(wrong, err)
			}
			continue
		}
		for _, c := range r.calls {
			callOf[c.run] = c
		}
		made.Notes = slices.Concat(made.Notes, r.notes, more)
		runs, names, first = append(runs, of...), append(names, r.tool.name), append(first, r.calls...)
	}
	made.Notes = append(made.Notes, s.lost...)
	runs = s.generated(runs)
	runs = slices.DeleteFunc(runs, func(r *run) bool {
		if r.reads == "" || r.lacks == nil || errors.Is(r.lacks, errNotRead) {
			return false
		}
		of := callOf[r]
		err := fmt.Errorf("%s%s: %w", of.at, of.tool.name, r.lacks)
		if !o.SkipUnmapped {
			wrong = append(wrong, err)
		}
		if of.fate != nil {
			of.fate.Became = o.notImported(err, of.at)
		}
		return true
	})
	err := errors.Join(wrong...)
	if err != nil && file != "" && !strings.Contains(err.Error(), "--skip-unmapped") {
		err = fmt.Errorf("%w\n%s", err, skipsLines)
	}
	switch {
	case err != nil && (file == "" || len(runs) == 0):
		return made, err
	case err != nil:
		lost := s.unimported()
		made.Notes = append(made.Notes, Note{Text: lost})
		err = fmt.Errorf("%w\n%s: the scenario has only the others", err, lost)
	case len(runs) == 0:
		return made, errors.New("no call of a benchmark that weir reads was found")
	}
	place := func(r *run) int { return slices.Index(s.fates, callOf[r].fate) }
	slices.SortStableFunc(runs, func(a, b *run) int { return place(a) - place(b) })
	name := title(first)
	switch base := strings.TrimSuffix(path.Base(file), path.Ext(file)); {
	case file != "" && notInTitles().ReplaceAllString(base, "-") != "-":
		name = strings.ToLower(notInTitles().ReplaceAllString(base, "-"))
	case len(names) > 1:
		name = "script"
	}
	src, failed := scenario(name, strings.Join(names, ", "), runs, made.Notes)
	if failed != nil {
		return made, failed
	}
	made.Scenario, made.Variables = src, variablesOf(runs)
	return made, err
}

// unimported names the lines that cannot be imported.
func (s *script) unimported() string {
	var lines []string
	for _, f := range s.fates {
		if n := strconv.Itoa(f.Line); strings.HasPrefix(f.Became, lineNot) && !slices.Contains(lines, n) {
			lines = append(lines, n)
		}
	}
	if len(lines) == 1 {
		return "line " + lines[0] + " is not imported"
	}
	return "lines " + strings.Join(lines, ", ") + " are not imported"
}

// readable returns the lines of a tool that can be converted. The others are an error or, with
// --skip-unmapped, have that as their fate.
func readable(t *tool, lines []Line, o Options) (good []Line, err error) {
	trial, fresh := slices.Clone(lines), map[*Fate]*Fate{} // passes of a loop share a fate
	for i := range trial {
		of := trial[i].fate
		if fresh[of] == nil {
			fresh[of] = &Fate{}
		}
		trial[i].fate = fresh[of]
	}
	if calls, _, err := t.calls(trial, o); err == nil {
		if _, _, err = convert(calls, o, false); err == nil {
			return lines, nil
		}
	}
	var wrong []error
	alone, clients := make([]error, len(lines)), false
	for i, l := range lines {
		alone[i] = t.readAlone(l, o)
		clients = clients || alone[i] == nil
	}
	for i, l := range lines {
		err := alone[i]
		if clients && errors.Is(err, errServer) {
			err = nil
		}
		if err != nil {
			l.fate.Became = o.notImported(err, l.at)
		}
		switch {
		case err == nil:
			good = append(good, l)
		case o.SkipUnmapped:
		case slices.ContainsFunc(wrong, func(known error) bool { return known.Error() == err.Error() }):
		default:
			wrong = append(wrong, err)
		}
	}
	return good, errors.Join(wrong...)
}

// readAlone returns why a line cannot be converted without the others; nil: it can.
func (t *tool) readAlone(l Line, o Options) error {
	l.fate = &Fate{}
	calls, _, err := t.calls([]Line{l}, o)
	if err == nil {
		_, _, err = convert(calls, o, false)
	}
	if err != nil && !strings.HasPrefix(err.Error(), l.at) {
		err = fmt.Errorf("%s%w", l.at, err)
	}
	return err
}

// skipsLines is what users can do about lines that cannot be imported.
const skipsLines = "--skip-unmapped leaves such lines out"

// lineNot is the fate of a line that cannot be imported.
const lineNot = "not imported"

// notImported is lineNot with its reason, unless that is an error.
func (o Options) notImported(err error, at string) string {
	if !o.SkipUnmapped {
		return lineNot
	}
	return lineNot + ": " + strings.TrimPrefix(err.Error(), at)
}

// generated removes the runs of generators of matrices whose files another run reads: that run generates
// them.
func (s *script) generated(runs []*run) []*run {
	for _, maker := range runs {
		if maker.makes == "" {
			continue
		}
		for _, reader := range runs {
			if reader.reads == "" || path.Clean(path.Dir(reader.reads)) != path.Clean(maker.makes) {
				continue
			}
			delete(reader.options, "metadata_file")
			reader.options["generate"] = maker.options["generate"]
			reader.reads = ""
			maker.name = ""
		}
	}
	return slices.DeleteFunc(runs, func(r *run) bool { return r.name == "" })
}

// writes returns the file that a command writes from a text of the script; "": none.
func (s *script) writes(text string, n *syntax.CallExpr) (file string) {
	stmt := s.stmtOf[n]
	if stmt == nil {
		return ""
	}
	given := false
	for _, r := range stmt.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			given = true
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
			file = s.word(text, r.Word)
		}
	}
	if words := n.Args; file == "" && given && words[0].Lit() == "tee" && len(words) > 1 {
		file = s.word(text, words[len(words)-1])
	}
	if !given || strings.HasPrefix(file, "/dev/") {
		return ""
	}
	return file
}
