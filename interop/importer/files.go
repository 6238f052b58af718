package importer

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Files that a script writes with known texts, and which its commands read.

// ofFiles is the entry of the files.
const ofFiles = "<"

// files returns the texts of files by path. One without a text was written, but only the shell knows what.
func (v variables) files() map[string]*string {
	if v[ofFiles].files == nil {
		v[ofFiles] = variable{files: map[string]*string{}}
	}
	return v[ofFiles].files
}

// fileText returns the text of a file that the script writes, if it is known.
func (v variables) fileText(name string) (text string, known bool) {
	if of := v[ofFiles].files[path.Clean(name)]; of != nil {
		return *of, true
	}
	return "", false
}

// keepOutput keeps what a statement writes into files.
func (s *script) keepOutput(n *syntax.Stmt) {
	own := *n
	own.Redirs = slices.DeleteFunc(slices.Clone(n.Redirs), writesFile)
	for _, r := range n.Redirs {
		name, known := s.known.value(r.Word)
		if name = path.Clean(name); !writesFile(r) || !known || strings.HasPrefix(name, "/dev/") {
			continue
		}
		printed, known := s.known.output(&own, input{})
		if before, ok := s.known.fileText(name); r.Op == syntax.AppOut {
			_, written := s.known.files()[name]
			printed, known = before+printed, known && ok && written
		}
		certain := s.unsure == 0 && s.open == 0 && s.times <= 1 && !n.Background && (r.N == nil || r.N.Value == "1")
		if s.known.files()[name] = nil; known && certain && len(printed) <= mostValue {
			s.known.files()[name] = &printed
		}
	}
}

func writesFile(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{
		syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut,
	}, r.Op)
}

// readers are programs that do not change the files in their arguments.
var readers = names("cat|head|tail|grep|egrep|wc|less|more|cut|uniq|jq|ls|stat|chmod|[|test|source|.|bash|sh|echo|printf|" +
	"kubectl|docker|podman|scp|rsync|ssh|column|nl|diff|awk|tr|xargs|read|mapfile")

// dropFiles forgets the texts of files that a command names, unless it only reads them.
func (s *script) dropFiles(words []string) {
	if len(words) == 0 || slices.Contains(readers, path.Base(words[0])) {
		return
	}
	for _, w := range words[1:] {
		if _, ok := s.known.files()[path.Clean(w)]; ok {
			s.known.files()[path.Clean(w)] = nil
		}
	}
}

// uses tells that a later line reads a file that the script writes.
func (s *script) uses(name string) {
	if file := s.written[path.Clean(name)]; file != nil {
		s.runs(name, file)
	}
}

// withData returns the words of curl with the text that it reads for @FILE or @-.
func (s *script) withData(n *syntax.CallExpr, words []string) []string {
	words = slices.Clone(words)
	for i, w := range words {
		file, is := strings.CutPrefix(w, "@")
		text, known := s.known.fileText(file)
		if file == "-" {
			text, known, _ = s.givenTo(n)
		}
		if is && known {
			words[i] = text
			s.uses(file)
		}
	}
	return words
}
