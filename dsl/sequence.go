package dsl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/ctperftest"
	"weir/dsl/suggest"
	"weir/matrix"
	"weir/quantity"
	"weir/workload"
)

// maxPatterns bounds a sequence, as maxValues bounds any axis.
const maxPatterns = maxValues

// sequence is what a run of a workload with a Sequence plays.
type sequence struct {
	items []sequenceItem
	said  entry // where the run, or the defaults, say it
	axis  int   // of the run: that of the places
}

// sequenceItem is one pattern.
type sequenceItem struct {
	values   map[string]any // of options, where the item has them
	metadata []matrix.Field
	at       hcl.Range
}

// secondsSuffix is of keys of a pattern that are a plain number of seconds, as the
// published files have them.
const secondsSuffix = "_sec"

// sequence reads the items of a run's sequence and makes axes of them: their place,
// which cases are named by, and what their metadata says of all of them.
func (s *sweeper) sequence(given []entry) {
	kind := s.run.Workload
	for _, a := range s.run.Axes {
		if o, ok := kind.Option(a.Name); ok && (o.Item == workload.OnlyItem || slices.Contains(kind.OneOf, a.Name)) {
			s.error(a.Range, "Not an axis", fmt.Sprintf("%s is not swept: each pattern of the sequence is a case already, with its own %s.", capital(quote(a.Name)), kind.Sequence), "Take it out of the sweep; for other sequences write other runs.")
			return
		}
	}
	i := slices.IndexFunc(given, func(e entry) bool { return slices.Contains(kind.OneOf, e.name) })
	if i < 0 {
		return // which is reported with the other options
	}
	q := &sequence{said: given[i]}
	if o, _ := kind.Option(given[i].name); o.Type == workload.File {
		q.items = s.sequenceFile(given[i].expr)
	} else {
		q.items = s.sequenceItems(given[i])
	}
	if len(q.items) == 0 {
		return
	}
	s.sameRanks(q.items)
	s.run.sequence = q
	s.itemAxes(q)
}

// itemAxes adds the axes of the items to the sweep, innermost, and row by row.
func (s *sweeper) itemAxes(q *sequence) {
	kind := s.run.Workload
	places := make([]AxisValue, len(q.items))
	for i, item := range q.items {
		places[i] = AxisValue{Value: int64(i), Text: strconv.Itoa(i), Range: item.at}
	}
	q.axis = len(s.run.Axes)
	nodes := []*SweepNode{s.itemAxis(kind.Sequence, places)}
	for _, name := range s.facts(q.items) {
		values := make([]AxisValue, len(q.items))
		for i, item := range q.items {
			text, _ := lookup(item.metadata, name)
			values[i] = AxisValue{Value: text, Text: text, Range: item.at}
		}
		if n := s.itemAxis(name, values); n != nil {
			nodes = append(nodes, n)
		}
	}
	node := combined(ZipNode, nodes, q.said.at)
	if s.run.Sweep.Root != nil {
		node = combined(ProductNode, []*SweepNode{s.run.Sweep.Root, node}, q.said.at)
	}
	s.run.Sweep.Root = node
}

// itemAxis is an axis with a value for each item, nil if there are too many axes.
func (s *sweeper) itemAxis(name string, values []AxisValue) *SweepNode {
	if len(s.run.Axes) == maxAxes {
		return nil
	}
	if s.all.values += len(values); s.all.values > maxAllValues {
		s.tooMany(values[0].Range, fmt.Sprintf("The axes of the scenario, with the patterns of sequences, have more than %d values in all.", maxAllValues))
	}
	a := &Axis{Name: name, Range: values[0].Range, Item: true}
	s.index[name] = len(s.run.Axes)
	s.run.Axes = append(s.run.Axes, a)
	n := &SweepNode{Op: AxisNode, Axis: s.index[name], Range: a.Range}
	for _, v := range values {
		n.Values = append(n.Values, s.add(a, v))
	}
	return n
}

var factName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// facts are the names in the metadata of all items that conditions can use: none that
// means something else already. They are sorted, because files have them in any order.
func (s *sweeper) facts(items []sequenceItem) []string {
	names := map[string]bool{}
	for _, f := range items[0].metadata {
		_, isOption := s.run.Workload.Option(f.Key)
		_, isMetric := s.run.Workload.Metric(f.Key)
		names[f.Key] = factName.MatchString(f.Key) && !isOption && !isMetric && s.run.axis(f.Key) == nil && !slices.Contains([]string{"env", "host", "axis", "run"}, f.Key)
	}
	for _, item := range items {
		for name := range names {
			if v, ok := lookup(item.metadata, name); !ok || v == "" || strings.ContainsAny(v, "\n\t") {
				names[name] = false
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, usable bool) bool { return !usable })
	return slices.Sorted(maps.Keys(names))
}

func lookup(fields []matrix.Field, key string) (string, bool) {
	p := matrix.Pattern{Metadata: fields}
	return p.Lookup(key)
}

// sameRanks holds the patterns to one number of ranks.
func (s *sweeper) sameRanks(items []sequenceItem) {
	first := int64(0)
	for i, item := range items {
		text, _ := item.values["matrix"].(string)
		n, ok := workload.Ranks(text)
		switch {
		case !ok:
		case first == 0:
			first = n
		case n != first:
			s.error(item.at, "Wrong number of ranks", fmt.Sprintf("The matrix of pattern %d is of %d ranks, and that of the first is of %d.", i, n, first), "The patterns of a sequence are between the same ranks; a rank that takes no part in one has zeros there.")
			return
		}
	}
}

// sequenceItems reads a list of patterns.
func (s *sweeper) sequenceItems(e entry) []sequenceItem {
	list, diags := hcl.ExprList(e.expr)
	switch {
	case diags.HasErrors():
		s.error(e.expr.Range(), "Not a list", fmt.Sprintf("%s is a list, with a mapping for each pattern of the sequence.", capital(quote(e.name))), "Write each as an item with its matrix or matrix_file.")
		return nil
	case len(list) == 0:
		s.error(e.expr.Range(), "Empty sequence", fmt.Sprintf("%s has no items, so nothing would run.", capital(quote(e.name))), "Give it patterns.")
		return nil
	case len(list) > maxPatterns:
		s.error(e.expr.Range(), "Too many patterns", fmt.Sprintf("The sequence has %d patterns; the most is %d.", len(list), maxPatterns), "Divide it between runs.")
		return nil
	}
	var items []sequenceItem
	before := len(s.diags)
	for i, expr := range list {
		if !s.fixed(expr) {
			return nil
		}
		items = append(items, s.sequenceItem(i, expr))
	}
	if s.diags[before:].HasErrors() {
		return nil
	}
	return items
}

func (s *sweeper) sequenceItem(i int, expr hcl.Expression) sequenceItem {
	item := sequenceItem{values: map[string]any{}, at: expr.Range()}
	what := fmt.Sprintf("pattern %d", i)
	before := len(s.diags)
	for _, e := range s.mapping(expr, what) {
		if e.name == "metadata" {
			item.metadata = s.metadata(e)
			continue
		}
		if name, v := s.itemValue(e, what); v != nil {
			if _, twice := item.values[name]; twice {
				s.error(e.at, "Given twice", fmt.Sprintf("%s has %s already.", capital(what), name), "Keep one of the two.")
			}
			item.values[name] = v
		}
	}
	if _, ok := item.values["matrix"]; !ok && !s.diags[before:].HasErrors() {
		s.error(item.at, "No matrix", fmt.Sprintf("%s does not say what it moves.", capital(what)), "Give it a matrix or a matrix_file.")
	}
	return item
}

// itemValue reads what an item says of itself: the name of the option and its value.
func (s *sweeper) itemValue(e entry, what string) (string, any) {
	kind := s.run.Workload
	if e.name == "matrix_file" {
		name, ok := s.text(e.expr, e.name)
		if !ok {
			return "", nil
		}
		text, _ := s.matrixFile(name, e.expr.Range())
		return "matrix", text
	}
	name, inSeconds := strings.CutSuffix(e.name, secondsSuffix)
	o, ok := kind.Option(name)
	if !ok || o.Item == workload.NoItem || o.Name == kind.Sequence || inSeconds && o.Type != workload.Time {
		s.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in a pattern.", e.name), suggest.Sentence(e.name, itemKeys(kind), "keys"))
		return "", nil
	}
	if o.Type == workload.Matrix {
		if rows, diags := hcl.ExprList(e.expr); !diags.HasErrors() {
			if text, ok := s.rows(rows, e.expr.Range()); ok {
				return name, text
			}
			return "", nil
		}
	}
	text, ok := s.text(e.expr, e.name+" of "+what)
	if !ok {
		return "", nil
	}
	if inSeconds {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			s.error(e.expr.Range(), "Invalid value", fmt.Sprintf("%s is a plain number of seconds, not %q.", e.name, text), "With a unit it is written "+name+": "+text+".")
			return "", nil
		}
		text += "s"
	}
	v, err := o.Parse(text)
	if err != nil {
		s.error(e.expr.Range(), "Invalid value", fmt.Sprintf("%s of %s: %v.", e.name, what, err), "")
		return "", nil
	}
	return name, v
}

// itemKeys are what an item may hold.
func itemKeys(kind *workload.Kind) []string {
	keys := []string{"matrix_file"}
	for _, o := range kind.Options {
		if o.Item != workload.NoItem && o.Name != kind.Sequence {
			keys = append(keys, o.Name)
		}
		if o.Item != workload.NoItem && o.Type == workload.Time {
			keys = append(keys, o.Name+secondsSuffix)
		}
	}
	return keys
}

func (s *sweeper) metadata(e entry) []matrix.Field {
	var fields []matrix.Field
	for _, f := range s.mapping(e.expr, "metadata") {
		if text, ok := s.text(f.expr, f.name+" of metadata"); ok {
			fields = append(fields, matrix.Field{Key: f.name, Value: text})
		}
	}
	return fields
}

// sequenceFile reads a metadata.yaml with all its matrices. What is wrong with it is
// said at its place in its own file.
func (s *sweeper) sequenceFile(expr hcl.Expression) []sequenceItem {
	if !s.fixed(expr) {
		return nil
	}
	name, ok := s.text(expr, "metadata_file")
	if !ok {
		return nil
	}
	path := s.relative(name)
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		path = filepath.Join(path, ctperftest.MetadataFile)
	}
	g := s.all
	c, files, diags := ctperftest.ReadWith(path, func(path string) ([]byte, error) {
		src, err := g.options.Read(path)
		if g.cells += len(src); err == nil && g.cells > maxMatrices {
			return nil, fmt.Errorf("with %s the matrices of the scenario have more than %d bytes, which is the most for all of them together", path, maxMatrices)
		}
		return src, err
	})
	for file, f := range files {
		g.add(file, f)
	}
	for _, d := range diags {
		if d.Subject == nil { // it is about the file as a whole
			d.Subject = expr.Range().Ptr()
		}
		s.diags = append(s.diags, d)
	}
	if c == nil {
		return nil
	}
	if len(c.Patterns) > maxPatterns {
		s.error(expr.Range(), "Too many patterns", fmt.Sprintf("%s has %d patterns; the most is %d.", path, len(c.Patterns), maxPatterns), "Divide it between runs.")
		return nil
	}
	var items []sequenceItem
	for i, p := range c.Patterns {
		item := sequenceItem{at: expr.Range(), metadata: p.Metadata, values: map[string]any{
			"matrix": p.Matrix.Compact(), "op": p.Op, "shards": int64(p.Shards),
			"sleep_before_launch": quantity.Time(p.SleepBefore * 1e9), "sleep_after_launch": quantity.Time(p.SleepAfter * 1e9),
		}}
		if err := workload.CheckMatrix(p.Matrix); err != nil {
			s.error(expr.Range(), "Invalid matrix", fmt.Sprintf("Of pattern %d in %s: %v.", i, path, err), "")
			return nil
		}
		items = append(items, item)
	}
	return items
}

// digest tells sequences from each other.
func (q *sequence) digest() string {
	type plain struct {
		Values   map[string]string
		Metadata []matrix.Field
	}
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, item := range q.items {
		p := plain{map[string]string{}, item.metadata}
		for name, v := range item.values {
			p.Values[name] = workload.Text(v)
		}
		if err := enc.Encode(p); err != nil {
			panic(err) // texts always encode
		}
	}
	return fmt.Sprintf("%d sha256:%s", len(q.items), hex.EncodeToString(h.Sum(nil)))
}

// sequenced sets the options of a run that the items of its sequence have, and what
// the sequence is as a whole.
func (l *loader) sequenced(r *Run, byName map[string]*Setting) {
	q := r.sequence
	if q == nil {
		return
	}
	for _, o := range r.Workload.Options {
		if o.Item == workload.NoItem || o.Name == r.Workload.Sequence {
			continue
		}
		base := byName[o.Name]
		if base == nil {
			base = &Setting{Name: o.Name, Option: o, run: r, value: o.Default}
		}
		s := &Setting{Name: o.Name, Option: o, run: r, given: base.given, contents: map[string]any{}, otherwise: base}
		for i, item := range q.items {
			if v, ok := item.values[o.Name]; ok {
				s.contents[strconv.Itoa(i)] = v
			} else if o.Type == workload.String && len(item.metadata) > 0 {
				s.contents[strconv.Itoa(i)] = metadataText(item.metadata)
			}
		}
		if len(s.contents) == 0 {
			continue // the run says it, or the registry
		}
		s.Axes = append(slices.Clone(base.Axes), q.axis)
		slices.Sort(s.Axes)
		s.item = slices.Index(s.Axes, q.axis)
		byName[o.Name] = s
	}
	whole, _ := r.Workload.Option("patterns")
	byName[whole.Name] = &Setting{Name: whole.Name, Option: whole, run: r, value: q.digest()}
	for _, s := range byName {
		l.ofWhole(r, s)
	}
}

// metadataText is all of it in one line.
func metadataText(fields []matrix.Field) string {
	var words []string
	for _, f := range fields {
		words = append(words, f.Key+"="+f.Value)
	}
	return strings.Join(words, " ")
}

// ofWhole refuses an option that would differ between the patterns of one launch.
func (l *loader) ofWhole(r *Run, s *Setting) {
	if !s.Option.Process && s.Option.Item != workload.NoItem {
		return
	}
	for _, i := range s.Axes {
		if r.Axes[i].Item {
			at, own := s.Given()
			if !own {
				at = r.Range
			}
			l.error(at, "Depends on the pattern", fmt.Sprintf("%s is one for the whole sequence, and axis.%s differs between its patterns.", capital(s.Name), r.Axes[i].Name), "Use only axes of the sweep here.")
			return
		}
	}
}
