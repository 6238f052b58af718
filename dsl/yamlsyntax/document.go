package yamlsyntax

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"gopkg.in/yaml.v3"
)

// Document is a file as it was written, for programs that rewrite it: what
// Parse drops because it means nothing (comments, quotes, anchors) is here.
type Document struct {
	Root     *Value
	Comments []Comment // in file order
}

// Value is a value as it was written. Places are byte offsets into the file.
type Value struct {
	Kind    Kind
	Style   Style
	Text    string // of a Scalar; of an Alias the name of its anchor
	Null    bool   // of a Scalar: empty or null, and not in quotes
	Anchor  string // "": none
	Target  *Value // of an Alias: what it stands for
	Start   int    // of its anchor, if it has one
	At, End int    // of the value itself
	Indent  int    // of a Block scalar: columns before its text
	Items   []*Value
	Entries []Entry
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key, Value *Value
	Merge      bool // `<<`
}

// Comment is one comment, from its # to the end of its line.
type Comment struct {
	At   int
	Text string
}

// Kind is what a value is.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota
	Sequence
	Mapping
	Alias
)

// Style is how a value is written.
type Style int

// The styles: a scalar may be Plain, Quoted or Block, a collection Block or Flow.
const (
	Plain Style = iota
	Quoted
	Block
	Flow
)

// ParseDocument reads a file as it was written. Its errors are those of Parse.
func ParseDocument(src []byte, filename, root string) (*Document, hcl.Diagnostics) {
	if _, diags := Parse(src, filename, root); diags.HasErrors() {
		return nil, diags
	}
	s := newSource(src, filename)
	var doc yaml.Node
	hidden, masked := mask(src)
	if err := yaml.NewDecoder(bytes.NewReader(hidden)).Decode(&doc); err != nil || len(doc.Content) != 1 {
		return nil, hcl.Diagnostics{s.errorAt(0, 0, "Invalid YAML", "The file holds no document.")}
	}
	r := &documentReader{src: s, masked: masked, read: map[*yaml.Node]*Value{}}
	root0 := r.value(doc.Content[0], 0)
	return &Document{Root: root0, Comments: r.comments()}, nil
}

// documentReader makes values from the nodes of yaml.v3, which Parse has
// already found to be sound.
type documentReader struct {
	src    *source
	masked bool // as of a builder
	read   map[*yaml.Node]*Value
	texts  [][2]int // where scalars and aliases stand: a # in them begins no comment
}

// value reads a node inside a block collection whose entries begin at a column.
func (r *documentReader) value(y *yaml.Node, column int) *Value {
	s := r.src
	v := &Value{Anchor: y.Anchor, Start: s.offset(y.Line, y.Column)}
	v.At, v.End = v.Start, v.Start
	if y.Kind == yaml.AliasNode {
		v.Kind, v.Text, v.Target = Alias, y.Value, r.read[y.Alias]
		v.End = min(v.At+1+len(y.Value), len(s.src))
		r.texts = append(r.texts, [2]int{v.At, v.End})
		return v
	}
	v.At = s.skipProperties(v.Start)
	r.read[y] = v
	if y.Kind != yaml.ScalarNode {
		r.collection(v, y)
		return v
	}
	if y.Value == "" && y.Style&^yaml.TaggedStyle == 0 { // nothing is written: what follows may be far away
		v.Null, v.At, v.End = true, v.Start, v.Start
		if v.Anchor != "" {
			v.End += 1 + len(v.Anchor)
		}
		return v
	}
	b, n := &builder{src: s, masked: r.masked}, &node{}
	b.scalar(n, y, v.At)
	v.Text, v.Null, v.End = n.text, n.null, n.rng.End.Byte
	switch {
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		v.Style = Block
		v.End, v.Indent = s.endOfBlock(v.At, column)
	case v.At < len(s.src) && (s.src[v.At] == '"' || s.src[v.At] == '\''):
		v.Style = Quoted
	}
	r.texts = append(r.texts, [2]int{v.At, v.End})
	return v
}

func (r *documentReader) collection(v *Value, y *yaml.Node) {
	column := v.At - r.src.lineStart(v.At)
	v.Style = Block
	bracket := byte(']')
	if y.Style&yaml.FlowStyle != 0 {
		v.Style = Flow
	}
	v.End = v.At
	if y.Kind == yaml.SequenceNode {
		v.Kind = Sequence
		for _, c := range y.Content {
			item := r.value(c, column)
			v.Items = append(v.Items, item)
			v.End = max(v.End, item.End)
		}
	} else {
		v.Kind = Mapping
		bracket = '}'
		for i := 0; i+1 < len(y.Content); i += 2 {
			e := Entry{
				Key: r.value(y.Content[i], column), Value: r.value(y.Content[i+1], column),
				Merge: y.Content[i].Tag == "!!merge",
			}
			if e.Value.Kind == Scalar && e.Value.Text == "" && e.Value.Anchor == "" && e.Value.Style == Plain {
				e.Value.Start, e.Value.At, e.Value.End = e.Key.End, e.Key.End, e.Key.End
			}
			v.Entries = append(v.Entries, e)
			v.End = max(v.End, e.Key.End, e.Value.End)
		}
	}
	if v.Style == Flow {
		b := &builder{src: r.src}
		from := v.End
		if from == v.At { // nothing in it: its end lies after its opening bracket
			from++
		}
		v.End = max(from, b.closing(y, from, bracket))
	}
}

// lineStart is the offset of the first character of a line.
func (s *source) lineStart(at int) int {
	for at > 0 && s.src[at-1] != '\n' && s.src[at-1] != '\r' {
		at--
	}
	return at
}

// endOfBlock finds the end of a block scalar and the column of its text. column
// is that of the collection that it stands in.
func (s *source) endOfBlock(at, column int) (end, indent int) {
	header := s.lineEnd(at)
	end = header
	keep := false
	for _, c := range s.src[at:header] {
		if c >= '1' && c <= '9' && indent == 0 {
			indent = column + int(c-'0')
		}
		keep = keep || c == '+'
		if isSpace(c) {
			break
		}
	}
	if indent == 0 {
		indent = max(column+1, s.firstTextColumn(header), 1)
	}
	for from := header; from < len(s.src); {
		if from += breakLen(s.src[from:]); from == len(s.src) {
			break
		}
		to := s.lineEnd(from)
		line := string(s.src[from:to])
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case spaces == len(line) && spaces <= indent: // blank
			if keep {
				end = to
			}
		case spaces >= indent:
			end = to
		default:
			return end, indent
		}
		from = to
	}
	return end, indent
}

// firstTextColumn is the column of the first line below that is not blank, or of
// a blank one that is longer.
func (s *source) firstTextColumn(at int) int {
	column := 0
	for at < len(s.src) {
		at += breakLen(s.src[at:])
		line := s.src[at:s.lineEnd(at)]
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		column = max(column, spaces)
		if spaces < len(line) {
			break
		}
		at += len(line)
	}
	return column
}

// comments finds what stands outside of all texts. The texts are in file order.
func (r *documentReader) comments() []Comment {
	s := r.src
	var out []Comment
	next := 0
	for at := 0; at < len(s.src); {
		for next < len(r.texts) && r.texts[next][1] <= at {
			next++
		}
		if next < len(r.texts) && r.texts[next][0] <= at {
			at = r.texts[next][1]
			continue
		}
		if s.src[at] != '#' {
			at++
			continue
		}
		end := s.lineEnd(at)
		out = append(out, Comment{At: at, Text: strings.TrimRight(string(s.src[at:end]), " \t")})
		at = end
	}
	return out
}
