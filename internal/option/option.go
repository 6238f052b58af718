// Package option defines the options of workloads and fabrics: their types, defaults and bounds,
// and their values in scenarios, read from text and from JSON.
package option

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Type is the type of an option's value.
type Type string

// The types of option values, with the Go type of each.
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
	// Model is a mapping that package matgen reads. Cases do not have it, but the matrix in option
	// Into.
	Model     Type = "model"
	Patterns  Type = "patterns"  // a list of mappings; cases do not have it, but the options of one pattern
	Factor    Type = "factor"    // Scale
	File      Type = "file"      // string: a path; cases do not have it, but the contents in option Into
	Structure Type = "structure" // string: the JSON of a structure, normalized by Option.Read
	String    Type = "string"    // string
	Data      Type = "data"      // string: the result of Option.Read for the contents of a file, in base64
	Bool      Type = "bool"      // bool
)

// Numeric reports whether Number applies to values of the type.
func (t Type) Numeric() bool {
	switch t {
	case Size, Time, Rate, Frequency, Percent, Count, Factor:
		return true
	}
	return false
}

// Holds reports whether a value has the Go type of the option type.
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
	Default any // of the type's Go type; nil: there is no default
	// DefaultBy has other defaults, by the value of an earlier option; nil: Default applies to all
	// cases.
	DefaultBy *DefaultBy
	Absent    bool  // a case may lack it, although it has no default
	Required  bool  // it has no sensible default
	Min, Max  int64 // inclusive bounds in bytes, counts, nanoseconds, bytes/s, 1/s or percent; Max 0: none
	Values    []string
	Process   bool      // fixed when a rank process starts: cases that differ in it need different launches
	Where     OnlyWhere // the cases in which the option exists
	// Into is, for a File or a Model, the option that gets the contents of the file or the matrix.
	Into    string
	RanksOf string   // the option with the matrix that determines this number of ranks, unless it is given
	Item    Itemized // for a Kind with a Sequence
	// Words checks the text of a Count that is not a number, as uniform:1,512; nil: only numbers
	// are allowed.
	Words func(text string) error
	Forms Forms // of a Structure
	// Late are names with values known only when a launch runs, as launch.id; a * in a name matches
	// any word. Texts of a Structure or a String with Late are those of package placeholder.
	Late []string
	// Typed says that scalars of a Structure keep their type: 5 and "5" differ (see TypedText).
	Typed bool
	// Read checks and normalizes the JSON of a Structure, or Data. It is idempotent. An error in a
	// part of a Structure is a *structure.Error, of several parts structure.Errors.
	Read func(text string) (string, error)
	Doc  string
}

// OnlyWhere says in which cases an option exists; the zero value means all.
type OnlyWhere struct {
	Options  map[string]string // required values of options
	Any      bool              // one of them is sufficient
	OwnCells bool              // option matrix has cells from a rank to itself
}

// Forms are the ways to write a mapping other than with its own keys.
type Forms struct {
	// Short is the key that a scalar stands for: with tokens, 8 is {tokens: 8}.
	Short string
	// Moved maps keys that hold a path to the options of type File that get the path instead: files
	// are read when the scenario is loaded.
	Moved map[string]string
}

// DefaultBy are defaults that depend on another option.
type DefaultBy struct {
	Option string
	Values map[string]any // by the value of Option; Default applies to all other values
}

// String describes the defaults: "vram with fabric cuda".
func (d *DefaultBy) String() string {
	var out []string
	for _, value := range slices.Sorted(maps.Keys(d.Values)) {
		out = append(out, fmt.Sprintf("%v with %s %s", d.Values[value], d.Option, value))
	}
	return strings.Join(out, ", ")
}

// DefaultText describes the default: "dram, vram with fabric cuda".
func (o Option) DefaultText() string {
	text := Text(o.Default)
	if o.DefaultBy != nil {
		text += ", " + o.DefaultBy.String()
	}
	return text
}

// Itemized tells whether the items of a sequence have values of an option.
type Itemized int

// An option belongs to the run, to the run or its items, or to items only.
const (
	NoItem Itemized = iota
	MayItem
	OnlyItem
)

// DependsOn returns the options that decide whether this one exists.
func (o Option) DependsOn() []string {
	names := slices.Sorted(maps.Keys(o.Where.Options))
	if o.Where.OwnCells {
		names = append(names, "matrix")
	}
	return names
}

// Only describes where an option exists, as "fabric ucx"; "": everywhere.
func (o Option) Only() string {
	var only []string
	for _, name := range slices.Sorted(maps.Keys(o.Where.Options)) {
		only = append(only, name+" "+o.Where.Options[name])
	}
	if o.Where.Any {
		return strings.Join(only, " or ")
	}
	return strings.Join(only, " and ")
}
