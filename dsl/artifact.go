package dsl

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// Artifact is something that is kept of nodes: the output of a command, or files.
type Artifact struct {
	Name     string
	On       string   // every node | first node
	Command  []string // nil: File
	File     string   // a path on the node, which may be a pattern
	At       string   // start | end
	Required bool
	Timeout  time.Duration
	Range    hcl.Range // of its name
}

// maxArtifacts bounds the list, each item of which every node is asked for.
const maxArtifacts = 100

// artifacts reads what is kept of nodes.
func (l *loader) artifacts(content *hcl.BodyContent) []*Artifact {
	var out []*Artifact
	for _, b := range content.Blocks {
		if b.Type != "artifact" {
			continue
		}
		a := l.artifact(b)
		if len(out) == maxArtifacts {
			l.error(a.Range, "Too many artifacts", fmt.Sprintf("There are more than %d.", maxArtifacts),
				"Let one command write an archive.")
			break
		}
		if slices.ContainsFunc(out, a.collides) {
			l.error(a.Range, "Duplicate artifact", fmt.Sprintf("Artifact %q was already given.", a.Name),
				"Rename one of the two; names become those of files, and must differ in more than capitals.")
		}
		out = append(out, a)
	}
	return out
}

// collides says whether two names could be one file's.
func (a *Artifact) collides(o *Artifact) bool { return strings.EqualFold(a.Name, o.Name) }

func (l *loader) artifact(b *hcl.Block) *Artifact {
	a := &Artifact{Name: b.Labels[0], On: "every node", At: "end", Timeout: 30 * time.Second, Range: b.LabelRanges[0]}
	l.places.add(b.DefRange, "artifact "+a.Name)
	l.checkName(a.Name, a.Range)
	content := l.content(b.Body, schemaOf(grammar.Artifact), "an artifact")
	command, file := argument(content, "command"), argument(content, "file")
	switch {
	case command != nil && file != nil:
		l.error(file.Range(), "Command and file",
			fmt.Sprintf("Artifact %q is the output of a command and a file.", a.Name), "Keep one of the two.")
	case command != nil:
		a.Command, _ = l.argv(command, "command")
	case file != nil:
		a.File = l.pattern(file)
	default:
		l.error(a.Range, "Missing key", fmt.Sprintf("Artifact %q says neither of which command the output is kept nor which file.",
			a.Name), "Add command: [fi_info, -p, efa], or file: /var/log/messages.")
	}
	if expr := argument(content, "on"); expr != nil {
		a.On, _ = l.oneOf(expr, grammar.Artifact, "on")
	}
	if expr := argument(content, "at"); expr != nil {
		a.At, _ = l.oneOf(expr, grammar.Artifact, "at")
	}
	if expr := argument(content, "required"); expr != nil {
		a.Required = l.flag(expr, "required")
	}
	if expr := argument(content, "timeout"); expr != nil {
		a.Timeout = l.duration(expr, "timeout")
	}
	return a
}

// pattern reads the path of a file on a node. It is absolute: nobody knows the
// working directory of an agent.
func (l *loader) pattern(expr hcl.Expression) string {
	path, ok := l.text(expr, "file")
	_, err := filepath.Match(path, "")
	switch {
	case !ok:
	case err != nil:
		l.error(expr.Range(), "Invalid value", fmt.Sprintf("file: %q is no pattern of paths: a bracket is not closed.",
			path), `Write \[ for a bracket of the name.`)
	case !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		l.error(expr.Range(), "Invalid value", fmt.Sprintf("file: %q is no absolute path.", path),
			"Begin it with /: on a node there is no directory that it could be relative to.")
	default:
		return path
	}
	return ""
}

// addArtifact takes in what an included file wants to keep.
func (l *loader) addArtifact(m *module, a *Artifact, inc *included) {
	i := slices.IndexFunc(m.Artifacts, a.collides)
	if i < 0 {
		m.Artifacts = append(m.Artifacts, a)
		return
	}
	o, same := *m.Artifacts[i], *a
	o.Range, same.Range = hcl.Range{}, hcl.Range{}
	if !reflect.DeepEqual(o, same) {
		l.error(inc.at, "Duplicate artifact",
			fmt.Sprintf("Artifact %q of %s is another than that of %s.", a.Name, placeText(a.Range),
				placeText(m.Artifacts[i].Range)), "Rename one of the two, or give the include a prefix with as.")
	}
}

// equal says whether two checks ask for the same.
func (c *Check) equal(o *Check) bool {
	return slices.Equal(c.Command, o.Command) && c.Severity == o.Severity && c.Remedy == o.Remedy
}
