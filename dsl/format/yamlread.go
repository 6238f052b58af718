package format

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/yamlsyntax"
)

// readYAML makes the tree of a YAML document. The source has no BOM and only
// plain line feeds.
func readYAML(src []byte, filename string) (*node, hcl.Diagnostics) {
	doc, diags := yamlsyntax.ParseDocument(src, filename, "scenario")
	if diags.HasErrors() {
		return nil, diags
	}
	at := newPlaces(src, filename)
	r := &yamlReader{src: src, at: at, read: map[*yamlsyntax.Value]*node{}}
	root := r.value(doc.Root)
	comments := r.headers
	for _, c := range doc.Comments {
		comments = append(comments, comment{c.At, []string{c.Text}})
	}
	slices.SortFunc(comments, func(a, b comment) int { return a.at - b.at })
	attach(root, comments, at, true)
	return root, diags
}

type yamlReader struct {
	src  []byte
	at   *places
	read map[*yamlsyntax.Value]*node

	headers []comment // beside the marks of block texts
}

func (r *yamlReader) value(v *yamlsyntax.Value) *node {
	n := &node{at: r.at.span(v.At, v.End), anchor: v.Anchor, text: v.Text, null: v.Null, style: block}
	r.read[v] = n
	if v.Style == yamlsyntax.Flow {
		n.style = flow
	}
	switch v.Kind {
	case yamlsyntax.Alias:
		n.kind, n.target = alias, r.read[v.Target]
		n.written = "*" + v.Text
	case yamlsyntax.Sequence:
		n.kind = list
		for _, i := range v.Items {
			n.elements = append(n.elements, &element{value: r.value(i), start: i.Start, end: i.End})
		}
	case yamlsyntax.Mapping:
		n.kind = mapping
		for _, e := range v.Entries {
			n.elements = append(n.elements, &element{
				key: r.value(e.Key), value: r.value(e.Value), merge: e.Merge, start: e.Key.Start,
				end: max(e.Key.End, e.Value.End),
			})
		}
	default:
		r.scalar(n, v)
	}
	return n
}

func (r *yamlReader) scalar(n *node, v *yamlsyntax.Value) {
	n.template = strings.Contains(n.text, "${") || strings.Contains(n.text, "%{")
	n.quoted = v.Style == yamlsyntax.Quoted
	n.indent = v.Indent
	n.style = free
	if v.Style == yamlsyntax.Block {
		n.style = block
	}
	if n.text == "" && n.null {
		return
	}
	n.written = string(r.src[v.At:v.End])
	if n.style == block {
		header, body, _ := strings.Cut(n.written, "\n")
		if mark, text, found := strings.Cut(header, "#"); found {
			r.headers = append(r.headers, comment{v.At + len(mark), []string{"#" + strings.TrimRight(text, " \t")}})
			n.written = mark + "\n" + body
		}
	}
	if n.quoted && needsNoQuotes(n.text) {
		n.written = n.text
	}
}

// words are texts of which quotes are dropped where they are not needed.
var words = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+*<>=()%-]+)*$`)

// needsNoQuotes says whether a text is the same text without quotes, wherever it stands.
func needsNoQuotes(text string) bool {
	return words.MatchString(text) && yamlsyntax.IsPlain(text, true)
}
