// Artifacts: files and outputs of commands that are kept from nodes.

package dsl

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// Artifact is a file or the output of a command that a session keeps from each node.
type Artifact struct {
	Name     string
	On       string        `key:"on"`      // every node | first node
	Command  []string      `key:"command"` // nil: File
	File     string        // path on the node; may be a glob pattern
	At       string        `key:"at"` // start | end
	Required bool          `key:"required"`
	Timeout  time.Duration `key:"timeout"`
	Range    hcl.Range     // of its name
}

// artifacts reads the list of artifacts.
func (l *loader) artifacts(content *hcl.BodyContent) []*Artifact {
	var out []*Artifact
	for _, b := range content.Blocks {
		if b.Type != "artifact" {
			continue
		}
		a := l.artifact(b)
		if slices.ContainsFunc(out, a.collides) {
			l.error(a.Range, "Duplicate artifact", fmt.Sprintf("Artifact %q was already given.", a.Name),
				"Rename one of the two; names become file names, and must differ in more than capitals.")
		}
		out = append(out, a)
	}
	return out
}

// collides reports whether two names could be the same file.
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
			fmt.Sprintf("Artifact %q has both command and file.", a.Name), "Keep one of the two.")
	case file != nil:
		a.File = l.pattern(file)
	case command == nil:
		l.error(a.Range, "Missing key", fmt.Sprintf("Artifact %q has neither command nor file.",
			a.Name), "Add command: [fi_info, -p, efa], or file: /var/log/messages.")
	}
	l.fill(part{content, b.DefRange}, grammar.Artifact, a)
	return a
}

// pattern reads the path of a file on a node. It must be absolute, since the working directory of
// an agent is unknown.
func (d *decoder) pattern(expr hcl.Expression) string {
	path, ok := d.text(expr, "file")
	_, err := filepath.Match(path, "")
	switch {
	case !ok:
	case err != nil:
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("file: %q is not a valid path pattern: a bracket is not closed.",
			path), `Write \[ for a bracket in a file name.`)
	case !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("file: %q is not an absolute path.", path),
			"Begin it with /. Nodes have no directory that it could be relative to.")
	default:
		return path
	}
	return ""
}

// addArtifact adds an artifact of an included file.
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
			fmt.Sprintf("Artifact %q of %s differs from that of %s.", a.Name, placeText(a.Range),
				placeText(m.Artifacts[i].Range)), "Rename one of the two, or give the include a prefix with as.")
	}
}
