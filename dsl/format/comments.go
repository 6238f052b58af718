package format

import (
	"bytes"
	"sort"
	"strings"
)

// comment is one comment of a source, each of its lines beginning with #.
type comment struct {
	at    int
	lines []string
}

// event is where an element begins or ends.
type event struct {
	at   int
	e    *element
	path []*node // of a beginning: the containers around it, outermost first
}

// attacher gives every comment its place in the tree.
type attacher struct {
	*places
	events []event
	path   []*node // containers of the element that began last
	root   *node
	// indented says that containers have no closing bracket, so that the column
	// of a comment tells which of them it ends.
	indented bool
}

// attach hands each comment to the element that it stands beside or before, or
// to the container that it ends. It also notes where empty lines stood.
func attach(root *node, comments []comment, at *places, indented bool) {
	a := &attacher{places: at, root: root, indented: indented}
	a.collect(root, nil)
	next := 0
	for _, c := range comments {
		for next < len(a.events) && a.events[next].at <= c.at {
			if a.events[next].path != nil {
				a.path = a.events[next].path
			}
			next++
		}
		if e := a.beside(c, next); e != nil {
			a.addLine(e, c)
			continue
		}
		a.addOwn(c, next)
	}
	a.gaps(root)
}

func (a *attacher) collect(n *node, path []*node) {
	path = append(path[:len(path):len(path)], n)
	for _, e := range n.elements {
		a.events = append(a.events, event{at: e.start, e: e, path: path})
		a.collect(e.value, path)
		a.events = append(a.events, event{at: e.end, e: e})
	}
	if len(path) == 1 {
		sort.SliceStable(a.events, func(i, j int) bool { return a.events[i].at < a.events[j].at })
	}
}

// beside is the element on whose line the comment stands: the innermost of those
// that begin or end last before it.
func (a *attacher) beside(c comment, next int) *element {
	if next == 0 {
		return nil
	}
	last := a.events[next-1].at
	if bytes.ContainsAny(a.src[last:c.at], "\n\r") {
		return nil
	}
	i := next - 1
	for i > 0 && a.events[i-1].at == last && a.events[i].path == nil {
		i--
	}
	if a.events[i].path != nil && i < next-1 {
		i++
	}
	return a.events[i].e
}

func (a *attacher) addLine(e *element, c comment) {
	switch {
	case e.line == "" && len(c.lines) == 1:
		e.line = c.lines[0]
	case len(e.value.elements) > 0:
		e.value.foot = append(e.value.foot, c.lines...)
	default:
		e.head = append(e.head, c.lines...)
	}
}

func (a *attacher) addOwn(c comment, next int) {
	lines := c.lines
	gap := a.emptyBefore(c.at)
	add := func(to []string) []string {
		if gap && len(to) > 0 {
			to = append(to, "")
		}
		return append(to, lines...)
	}
	if n := a.container(c, next); n != nil {
		if gap && len(n.foot) == 0 {
			n.foot = append(n.foot, "")
		}
		n.foot = add(n.foot)
		return
	}
	e := a.events[next].e
	if gap && len(e.head) == 0 {
		e.gap = true
	}
	e.head = add(e.head)
}

// container is what the comment ends; nil if it stands before an element.
func (a *attacher) container(c comment, next int) *node {
	if next < len(a.events) && a.events[next].path == nil {
		return a.events[next].e.value
	}
	if !a.indented {
		if next < len(a.events) {
			return nil
		}
		return a.root
	}
	shared := 0
	if next < len(a.events) {
		shared = len(a.events[next].path)
	}
	column := a.columnOf(c.at)
	for i := len(a.path) - 1; i >= max(shared, 1); i-- {
		n := a.path[i]
		if n.style != flow && len(n.elements) > 0 && a.column(n) <= column && a.column(n) > a.column(a.path[i-1]) {
			return n
		}
	}
	if shared > 0 {
		return nil
	}
	return a.root
}

// column is that of the entries of a block container.
func (a *attacher) column(n *node) int {
	at := n.elements[0].start
	if n.kind == list { // the dash
		if i := bytes.LastIndexByte(a.src[:at], '-'); i >= 0 {
			at = i
		}
	}
	return a.columnOf(at)
}

// gaps notes the empty lines between elements and the comments before them.
func (a *attacher) gaps(n *node) {
	for _, e := range n.elements {
		if a.emptyBefore(e.start) && a.beginsLine(e.start) {
			if len(e.head) > 0 {
				e.head = append(e.head, "")
			} else {
				e.gap = true
			}
		}
		a.gaps(e.value)
	}
}

// hashed gives a comment's lines the form that both syntaxes have.
func hashed(text string) []string {
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		return []string{"#" + strings.TrimRight(rest, " \t\r\n")}
	}
	if strings.HasPrefix(text, "/*") {
		var out []string
		for _, l := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/"), "\n") {
			if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "*")); l != "" {
				out = append(out, "# "+l)
			}
		}
		if len(out) == 0 {
			out = []string{"#"}
		}
		return out
	}
	return []string{strings.TrimRight(text, " \t\r\n")}
}
