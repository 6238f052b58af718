// Package workload is the registry of what weir can measure: for each workload
// kind its options (type, default, unit) and its metrics (unit, direction,
// definition). The validator, the plan, the engine, the reports and `weir docs`
// all read these tables; nothing about an option or a metric is written twice.
package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/matrix"
	"weir/quantity"
	"weir/results"
)

// Type is what an option's value is.
type Type string

// The types of option values, with the Go type that holds a value of each.
const (
	Size      Type = "size"      // quantity.Size
	Time      Type = "time"      // quantity.Time
	Rate      Type = "rate"      // quantity.Rate
	Frequency Type = "frequency" // quantity.PerSecond
	Percent   Type = "percent"   // quantity.Percent
	Count     Type = "count"     // int64
	Enum      Type = "enum"      // string, one of Option.Values
	Failures  Type = "failures"  // string that ParseFailures reads
	Params    Type = "params"    // string that ParseParams reads
	NUMA      Type = "numa"      // string that ParseNUMA reads
	Matrix    Type = "matrix"    // string: Compact of what ParseMatrix reads
	Generator Type = "generator" // string: Generated.String of what ParseGenerated reads; or a mapping as of a Model
	// a mapping that package matgen reads; no case has it, but Option.Into what follows from it
	Model     Type = "model"
	Patterns  Type = "patterns"  // a list of mappings; no case has it, but each the options that are of one
	Factor    Type = "factor"    // Scale
	File      Type = "file"      // string: a path; no case has it, but Option.Into what is there
	Structure Type = "structure" // string: JSON of what ReadStructure reads, as Option.Read writes it
	String    Type = "string"    // string
	Data      Type = "data"      // string: what Option.Read makes of the content of a file, in base64
	Bool      Type = "bool"      // bool
)

// Numeric says whether values of the type have a Number.
func (t Type) Numeric() bool {
	switch t {
	case Size, Time, Rate, Frequency, Percent, Count, Factor:
		return true
	}
	return false
}

// Holds says whether a value is of the Go type of values of the type.
func (t Type) Holds(v any) bool {
	ok := false
	switch t {
	case Size:
		_, ok = v.(quantity.Size)
	case Time:
		_, ok = v.(quantity.Time)
	case Rate:
		_, ok = v.(quantity.Rate)
	case Frequency:
		_, ok = v.(quantity.PerSecond)
	case Percent:
		_, ok = v.(quantity.Percent)
	case Count:
		_, ok = v.(int64)
	case Factor:
		_, ok = v.(Scale)
	case Bool:
		_, ok = v.(bool)
	default:
		_, ok = v.(string)
	}
	return ok
}

// Option is one setting of a workload.
type Option struct {
	Name    string
	Type    Type
	Default any // of the type's Go type; nil: there is none unless it is given
	// DefaultBy are other defaults, by the value of an option that stands before this one; nil: Default is
	// that of all cases.
	DefaultBy *DefaultBy
	Absent    bool  // a case may lack it, though it has no default
	Required  bool  // has no sensible default
	Min, Max  int64 // inclusive bounds in bytes, counts, nanoseconds, bytes/s, 1/s or percent; Max 0 means none
	Values    []string
	Process   bool              // fixed when a rank process starts: cases that differ in it need different launches
	For       map[string]string // the option exists only where these options have these values; nil: always
	ForAny    bool              // one of For is enough
	// WithOwnCells says that the option exists only where option matrix has cells of ranks
	// with themselves.
	WithOwnCells bool
	// of a File or a Model: the option whose value is what the file holds, or what the model moves
	Into    string
	RanksOf string   // the option whose matrix has as many ranks as this one says, unless it is given
	Item    Itemized // of a Kind with a Sequence
	// Words checks the text of a Count that is no number, as uniform:1,512; nil: there is none.
	Words func(text string) error
	// Moved are keys of a Structure that hold a path, with the option of type File that has the
	// path instead: a file is read when the scenario is loaded.
	Moved map[string]string
	// Late are names whose values are known only when a launch runs, as launch.id; a * in
	// one stands for any word. Texts of a Structure or a String with Late are those of package
	// placeholder.
	Late []string
	// Typed says that scalars of a Structure keep their type: 5 and "5" differ (see TypedText).
	Typed bool
	// Read checks the JSON of a Structure, or Data, and writes it in the one way in which it is
	// compared; its own result it leaves as it is. What is wrong with a part of a Structure is a
	// *StructureError.
	Read func(text string) (string, error)
	Doc  string
}

// DefaultBy are defaults that another option decides.
type DefaultBy struct {
	Option string
	Values map[string]any // by the values of Option; of all others Default is the default
}

// String says which: "vram with fabric cuda".
func (d *DefaultBy) String() string {
	var out []string
	for _, value := range slices.Sorted(maps.Keys(d.Values)) {
		out = append(out, fmt.Sprintf("%v with %s %s", d.Values[value], d.Option, value))
	}
	return strings.Join(out, ", ")
}

// DefaultText is the default in words: "dram, vram with fabric cuda".
func (o Option) DefaultText() string {
	text := Text(o.Default)
	if o.DefaultBy != nil {
		text += ", " + o.DefaultBy.String()
	}
	return text
}

// Itemized says whether the items of a sequence have values of an option.
type Itemized int

// An option is of the run alone, of an item that may say it instead, or of items only.
const (
	NoItem Itemized = iota
	MayItem
	OnlyItem
)

// DependsOn are the options that decide whether there is this one.
func (o Option) DependsOn() []string {
	names := slices.Sorted(maps.Keys(o.For))
	if o.WithOwnCells {
		names = append(names, "matrix")
	}
	return names
}

// Metric is one number that a launch of the workload yields.
type Metric = results.Metric

// MetricValues are the metrics of a launch.
type MetricValues = results.MetricValues

// MetricTable defines the metrics of a workload, or of a run that declares its own.
type MetricTable = results.MetricTable

// Column is a column of tables of cases.
type Column = results.MetricColumn

// Direction says which way a metric is better.
type Direction = results.Direction

// The directions of a metric.
const (
	Higher  = results.Higher
	Lower   = results.Lower
	Neither = results.Neither
)

// Bandwidth is the name under which each workload has the rate of its data: what links of a site bound.
const Bandwidth = "bandwidth"

// Moment is how reports tell of a kind of moment.
type Moment struct {
	Text  string
	By    bool // of another rank, which is told
	Fault bool
}

// Kind is one workload.
type Kind struct {
	Name    string
	Doc     string
	Options []Option
	// Without are options of others that cases of this workload have not, with the reason of each.
	Without map[string]string
	Metrics []Metric
	// Columns are the metrics that tables of cases show; nil: all.
	Columns []Column
	// Brief are the metrics that progress shows; nil: the first few.
	Brief []string
	// Charts are what reports draw of cases besides single metrics; nil: nothing.
	Charts []Chart
	// OnceRounded are the metrics that are of results.RoundedRankRule in documents without a
	// definition of quantiles.
	OnceRounded []string
	// DeclaresMetrics says that runs declare metrics of their own, beside those above.
	DeclaresMetrics bool
	// Measures are the metrics of a run with these options, whose own are declared; with
	// an error, as many as are known. nil: Metrics and then the declared ones.
	Measures func(options Values, declared []Metric) ([]Metric, error)
	// MeasuredBy is the option without which Measures adds nothing; "": it is always asked.
	MeasuredBy string
	// RowAxis is the axis whose values tell the cases of one launch apart, of a run with
	// these options, and Row the option that has its value as a text; nil, or "": there is none.
	// RowValues are the values of the axis where the sweep has no such axis; none: they are not known.
	RowAxis   func(Values) string
	RowValues func(Values) []string
	Row       string
	// Sequence names the option whose values are the places of a sequence, each of which
	// is a case: all of them run in one launch, always together and in order. "": cases
	// of this workload are measured each for itself.
	Sequence string
	// Moments are the kinds of moments of a launch's timeline (results.Moment.What).
	Moments map[string]Moment
	// Items are the items of a sequence by the value of its option of OneOf, or of what that is Into,
	// where items have no options of their own: of each the facts that conditions may name, which
	// all items have. nil: each item is a mapping of options.
	Items func(value string) [][]matrix.Field
	// OneOf are options of which exactly one is given.
	OneOf []string
	// CountedBy are the options that say how many ranks a case has, and Count what they amount to, given
	// their values; nil: option ranks says it.
	CountedBy []string
	Count     func(value func(option string) any) int
	// Check holds what no single option can say; nil: nothing. It looks at the
	// options of Checked only.
	Check   func(Values) error
	Checked []string
	Behaviour
}

// Option finds an option by name.
func (k *Kind) Option(name string) (Option, bool) {
	i := slices.IndexFunc(k.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, false
	}
	return k.Options[i], true
}

// InSeconds is behind the names of times that items of a sequence may give as a plain
// number of seconds, as the published files have them.
const InSeconds = "_sec"

// ItemOptions are the options that an item of a sequence may have.
func (k *Kind) ItemOptions() []Option {
	return slices.DeleteFunc(slices.Clone(k.Options),
		func(o Option) bool { return o.Item == NoItem || o.Name == k.Sequence })
}

// Applies says whether an option exists for a case with these values; options
// that v lacks have their defaults.
func (k *Kind) Applies(o Option, v Values) bool {
	if text, _ := v["matrix"].(string); o.WithOwnCells && !HasOwnCells(text) {
		return false
	}
	for name, want := range o.For {
		have, ok := v[name]
		if !ok {
			other, _ := k.Option(name)
			have = other.Default
		}
		if met := have == want; met == o.ForAny {
			return met
		}
	}
	return !o.ForAny
}

// Only says where an option exists, as "fabric ucx"; "": everywhere.
func (o Option) Only() string {
	var only []string
	for _, name := range slices.Sorted(maps.Keys(o.For)) {
		only = append(only, name+" "+o.For[name])
	}
	if o.ForAny {
		return strings.Join(only, " or ")
	}
	return strings.Join(only, " and ")
}

// Applicable is v without the options that do not exist for such a case.
func (k *Kind) Applicable(v Values) Values {
	out := make(Values, len(v))
	for name, value := range v {
		if o, ok := k.Option(name); !ok || k.Applies(o, v) {
			out[name] = value
		}
	}
	return out
}

// Metric finds a metric by name, Availability too.
func (k *Kind) Metric(name string) (Metric, bool) {
	return FindMetric(k.Metrics, name)
}

// RanksOptions are the options that say how many ranks a case has.
func (k *Kind) RanksOptions() []string {
	if k.CountedBy != nil {
		return k.CountedBy
	}
	return []string{"ranks"}
}

// Ranks is how many ranks a case has with these values of RanksOptions; 1 where they do not say.
func (k *Kind) Ranks(value func(option string) any) int {
	if k.Count != nil {
		return max(1, k.Count(value))
	}
	if n, ok := value("ranks").(int64); ok {
		return int(n)
	}
	return 1
}

// Names are the names of all workloads.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}
