package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// jsonData describes the rows of a JSON document.
type jsonData struct {
	Notes bool // text before and after the document is ignored
	Many  bool // several consecutive documents
	YAML  bool // the document may be in YAML
	Text  struct {
		Of   string // prefix of the tool's output if it prints no JSON
		Else string
	}
	Document []check // of the whole document
	Rows     string  // path of the rows; "": the document is a row
	None     string  // the error if Rows does not exist
	Empty    string  // the error if Rows is empty
	Checks   []check // of each row
	Blank    string  // the error of a row without a metric
	Version  texts   // of the tool that wrote the document; the first existing one counts
	Number   string  // the key that numbers rows which are the same otherwise; "": these are an error
	Other    pattern // names of members of a row that are passed on as Others if they are no metrics
}

// check is a condition on a value, and the error if it is not satisfied.
type check struct {
	Path    texts // the first existing one counts
	Must    string
	Nothing bool // the error is ErrNothing
	Else    string
}

// fits reports whether a value, nil if missing, satisfies the condition.
func (c *check) fits(n *jsonValue) bool {
	must, want, _ := strings.Cut(c.Must, " ")
	switch must {
	case "exist":
		return n != nil
	case "lack":
		return n == nil
	case "text":
		return n != nil && n.kind == text
	case "number":
		return n != nil && n.kind == number
	case "be":
		return n == nil || n.says(want)
	}
	return n == nil || !n.says(want) // negated
}

// says reports whether a value is a word or a number, however that is written.
func (n *jsonValue) says(want string) bool {
	v, err := same.signed(n.text)
	w, wrong := same.signed(want)
	return n.text == want || err == nil && wrong == nil && v == w
}

// jsonFormat reads documents.
type jsonFormat struct {
	jsonData
	rowsOf   []step
	convert  func([]byte) ([]byte, error)
	loads    func(*jsonValue) ([]*jsonValue, error) // finds the rows; nil: by rowsOf
	versions string
	keys     []keyData
	load     []keyData
	metrics  []metricData
	due      []declaredValue // values that a user declares, instead of keys and metrics
	taken    []string        // paths of metrics, as labels
}

func (t *tool) jsonReader(special function) (read func([]byte) ([]Row, error), err error) {
	f := &jsonFormat{
		jsonData: *t.JSON, convert: special.json, loads: special.rows, versions: t.Versions, keys: t.Keys,
		load: t.Load, metrics: t.Metrics,
	}
	switch {
	case f.YAML:
		f.convert = fromYAML
	case f.convert == nil:
		f.convert = unchanged
	}
	var paths []string
	for _, c := range slices.Concat(f.Document, f.Checks) {
		paths = append(paths, c.Path...)
	}
	for _, k := range slices.Concat(f.keys, f.load) {
		paths = append(paths, slices.Concat(k.Path, k.Unless)...)
	}
	for _, m := range f.metrics {
		for _, p := range slices.Concat(m.Path, m.If, m.Rest, m.Plus) {
			in, rest, ok := strings.Cut(p, ": ")
			if _, known := scales[in]; ok && !known {
				return nil, fmt.Errorf("metric %s: there is no unit %q", m.Name, in)
			}
			if ok {
				p = rest
			}
			paths = append(paths, p)
			f.taken = append(f.taken, label(p))
		}
		if m.In.said != nil && !strings.Contains(m.Path[0], ".") {
			return nil, fmt.Errorf("metric %s: there is no member unit beside %s", m.Name, m.Path)
		}
	}
	for _, p := range append(paths, f.Rows) {
		if f.rowsOf = nil; p == "" {
			continue
		}
		if f.rowsOf, err = parsePath(p); err != nil { // finally that of Rows
			return nil, err
		}
	}
	return f.read, nil
}

func (f *jsonFormat) read(output []byte) ([]Row, error) {
	if err := refuseEncoded(output); err != nil {
		return nil, err
	}
	if i := bytes.Index(output, []byte(f.Text.Of)); i >= 0 && f.Text.Of != "" {
		return nil, at(1+bytes.Count(output[:i], []byte("\n")), "%s", f.Text.Else)
	}
	output = untaggedDocument([]byte(uncoloured(string(bytes.TrimPrefix(output, byteOrderMark)))))
	output, err := f.convert(output)
	if err != nil {
		return nil, err
	}
	if f.Notes {
		output = withoutNotes(output)
	}
	all, err := documents(output)
	if bare, ok := withoutText(output); err != nil && ok {
		all, err = documents(bare)
	}
	if err != nil {
		return nil, err
	}
	if len(all) > 1 && !f.Many {
		return nil, at(all[1].line, "a second JSON document, after that of line %d", all[0].line)
	}
	var read []Row
	for _, root := range all {
		version := ""
		if n := root.first(f.Version); n != nil {
			version = n.text
		}
		places, err := f.places(root)
		for i := 0; err == nil && i < len(places); i++ {
			var row Row
			row, err = f.row(root, places[i], i+1)
			row.Version = version
			read = append(read, row)
		}
		switch {
		case err != nil && version != "":
			return nil, fmt.Errorf("%w (written by version %s; read: %s)", err, version, f.versions)
		case err != nil:
			return nil, err
		}
	}
	if f.Number != "" {
		enumerate(read, f.Number)
	}
	var found rows
	for _, row := range read {
		if err := found.add(row); err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

// places returns the values that are rows.
func (f *jsonFormat) places(root *jsonValue) ([]*jsonValue, error) {
	row := Row{Line: root.line}
	if err := f.check(f.Document, root, &row, 1); err != nil {
		return nil, err
	}
	switch {
	case f.loads != nil:
		return f.loads(root)
	case f.rowsOf == nil && f.due == nil && len(root.items) > 0: // results that a script has collected
		return root.items, nil
	case f.rowsOf == nil:
		return []*jsonValue{root}, nil
	case !f.rowsOf[len(f.rowsOf)-1].isRows():
		n := root.find(f.Rows)
		if n == nil {
			return nil, nothing("%s", f.None)
		}
		return []*jsonValue{n}, nil
	}
	n, err := walk(root, f.rowsOf[:len(f.rowsOf)-1])
	if err != nil && f.None != "" {
		return nil, nothing("%s", f.None)
	}
	if err != nil {
		return nil, err
	}
	items, err := n.list()
	switch {
	case err != nil:
		return nil, err
	case len(items) == 0 && f.Empty != "":
		return nil, at(n.line, "%s", f.Empty)
	case len(items) == 0:
		return nil, nothing("the list of line %d is empty", n.line)
	}
	return items, nil
}

// check checks values against conditions.
func (f *jsonFormat) check(list []check, in *jsonValue, row *Row, number int) error {
	for _, c := range list {
		n := in.first(c.Path)
		if c.fits(n) {
			continue
		}
		line, words := row.Line, []string{"{n}", fmt.Sprint(number), "{line}", fmt.Sprint(row.Line)}
		if n != nil {
			line = n.line
			for n.kind == twice {
				n = n.before
			}
			words = append(words, "{value}", n.text, "{quoted}", quote(n.text))
		}
		for name, v := range row.At {
			words = append(words, "{"+name+"}", quote(v))
		}
		says := strings.NewReplacer(words...).Replace(c.Else)
		if c.Nothing {
			return nothing("%s", says)
		}
		return at(line, "%s", says)
	}
	return nil
}

func (f *jsonFormat) row(root, place *jsonValue, number int) (Row, error) {
	row := newRow(place.line)
	for _, d := range f.due {
		if err := d.take(root, place, &row); err != nil {
			return row, fmt.Errorf("%s of row %d: %w", d.name, number, err)
		}
	}
	for _, k := range f.keys {
		if err := k.take(place, &row); err != nil {
			return row, err
		}
	}
	for _, k := range f.load {
		text := k.Default
		if n := place.first(k.Path); n != nil && n.isScalar() {
			text = n.text
		}
		if text != "" && row.Load == nil {
			row.Load = map[string]string{}
		}
		if text != "" {
			row.Load[k.Name] = text
		}
	}
	if err := f.check(f.Checks, place, &row, number); err != nil {
		return row, err
	}
	for _, m := range f.metrics {
		if err := m.take(place, &row); err != nil {
			return row, err
		}
	}
	if err := f.others(place, &row); err != nil {
		return row, err
	}
	lacks := func(says string) error {
		return f.check([]check{{Must: "exist", Else: says}}, place, &row, number)
	}
	if len(row.Values) == 0 && f.Blank != "" {
		return row, lacks(f.Blank)
	}
	for _, m := range f.metrics {
		if _, ok := row.Values[m.Name]; !ok && m.Needs != "" {
			return row, lacks(m.Needs)
		}
	}
	return row, nil
}

// others passes on numbers that are no metrics.
func (f *jsonFormat) others(place *jsonValue, row *Row) (err error) {
	for _, name := range sortedNames(place.members) {
		n := place.members[name]
		if !f.Other.matches(name) || slices.Contains(f.taken, name) || n.kind == null {
			continue
		}
		if row.Others[name], err = same.of(n.text); err != nil {
			return at(n.line, "%s: %w", name, err)
		}
	}
	return nil
}
