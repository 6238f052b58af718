package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

// Options are the values of a fabric's options as texts, by name.
type Options map[string]string

// Needs are the features of a fabric that a case uses.
type Needs struct {
	Op, Mode, Pages string
	// Initiator and Target are kinds of memory; "": host memory.
	Initiator, Target string
	InFlight          int64
	Block             quantity.Size
	Heap, Sleeps      bool
	Matrix            bool // the cells of a matrix, and not blocks of one size
	Options           Options
}

// VRAM is the kind of memory of GPUs. A host's description of a fabric has a detail of this name: HasVRAM, or why
// the fabric does not move GPU memory there.
const (
	VRAM    = "vram"
	HasVRAM = "yes"
)

// VRAM reports whether an end is in GPU memory.
func (n Needs) VRAM() bool { return n.Initiator == VRAM || n.Target == VRAM }

// init fills in the texts of options before any workload copies them.
func init() {
	for _, f := range All {
		option.ReadDocs(f.Docs).OfOptions(f.Options)
		for i := range f.Options {
			f.Options[i].Where.Options = map[string]string{"fabric": f.Name}
		}
	}
}

// OptionsOf returns the options of all fabrics for a workload, which moves matrices or not, except some: named ones,
// and those prefixed with their fabric's name. Both are sorted by fabric.
func OptionsOf(matrix bool, without ...string) (named, prefixed []option.Option) {
	for _, f := range slices.SortedFunc(slices.Values(All),
		func(a, b Fabric) int { return cmp.Compare(a.Name, b.Name) }) {
		for _, o := range f.optionsOf(matrix, without) {
			if strings.HasPrefix(o.Name, f.Name+"_") {
				prefixed = append(prefixed, o)
			} else {
				named = append(named, o)
			}
		}
	}
	return named, prefixed
}

func (f Fabric) optionsOf(matrix bool, without []string) []option.Option {
	all := slices.DeleteFunc(slices.Clone(f.Options),
		func(o option.Option) bool { return slices.Contains(without, o.Name) })
	if !matrix {
		return all
	}
	if f.NoMatrix != "" {
		return nil
	}
	option.ReadDocs(f.Docs).Under("Options with a matrix", all)
	return slices.DeleteFunc(all, func(o option.Option) bool { return slices.Contains(f.WithoutMatrix, o.Name) })
}

// CheckedOptions are the names of those of OptionsOf that Lacks and Read depend on.
func CheckedOptions(matrix bool, without ...string) []string {
	var names []string
	for _, f := range All {
		for _, o := range f.optionsOf(matrix, without) {
			if slices.Contains(f.Checked, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// Read reads the options of a fabric that moves bytes; nil if it has none. Options that the workload lacks are left
// out.
func Read(name string, get option.Getter) (Options, error) {
	f, ok := Find(name)
	if !ok || f.Simulated || len(f.Options) == 0 {
		return nil, nil
	}
	read := Options{}
	for _, o := range f.Options {
		v := get(o.Name)
		if v == nil {
			continue
		}
		if !o.Type.Holds(v) {
			return nil, wrongType(o, v)
		}
		read[o.Name] = option.Text(v)
	}
	return read, f.check(read)
}

// check applies Check to the options, completed by defaults.
func (f Fabric) check(o Options) error {
	if strings.ContainsAny(strings.Join(f.texts(o), ""), "\n\x00") {
		return fmt.Errorf("an option of fabric %s has a line break or a zero in its value", f.Name)
	}
	if f.Check == nil {
		return nil
	}
	return f.Check(f.complete(o))
}

func wrongType(o option.Option, v any) error {
	kind := o.Type
	if kind == option.Enum {
		kind = option.String
	}
	return fmt.Errorf("option %s is %T, not a %s", o.Name, v, kind)
}

// complete adds the defaults of options that are not given.
func (f Fabric) complete(o Options) Options {
	all := Options{}
	for i, text := range f.texts(o) {
		all[f.Options[i].Name] = text
	}
	return all
}

// texts returns the values of all options in their order.
func (f Fabric) texts(o Options) []string {
	var all []string
	for _, opt := range f.Options {
		text, given := o[opt.Name]
		if !given {
			text = option.Text(opt.Default)
		}
		all = append(all, text)
	}
	return all
}

// With merges the options with others, which take precedence.
func (o Options) With(others Options) Options {
	all := Options{}
	maps.Copy(all, o)
	maps.Copy(all, others)
	return all
}

// Lines formats the values of all options of a fabric for the C engine, a line "name=value" for each.
func Lines(name string, o Options) (string, error) {
	f, _ := Find(name) // one without options, if there is none
	var lines strings.Builder
	for i, text := range f.texts(o) {
		fmt.Fprintf(&lines, "%s=%s\n", f.Options[i].Name, text)
	}
	return lines.String(), f.check(o)
}

// Lacks says which of a case's needs a fabric cannot meet; "" if it meets all.
func Lacks(name string, n Needs) string {
	f, ok := Find(name)
	n.Options = f.complete(n.Options)
	if n.Matrix && f.NoMatrix != "" {
		return "fabric " + name + " " + f.NoMatrix
	}
	if why := n.gpuMemory(f); ok && why != "" {
		return why
	}
	if ok && f.Lacks != nil {
		if why := f.Lacks(n); why != "" {
			return why
		}
	}
	if n.Sleeps && !f.Sleeps {
		return "fabric " + name + " has no wait sleep: " + sleepers()
	}
	return ""
}

// gpuMemory says why a case cannot have GPU memory over a fabric; "" if it can or has none.
func (n Needs) gpuMemory(f Fabric) string {
	switch {
	case !n.VRAM():
		return ""
	case !f.VRAM:
		var others []string
		for _, o := range All {
			if o.VRAM {
				others = append(others, o.Name)
			}
		}
		return fmt.Sprintf("fabric %s moves host memory only; vram is moved by fabric %s", f.Name,
			strings.Join(others, ", "))
	case n.Pages != "" && n.Pages != "default":
		return "pages " + n.Pages + " is for host memory, and an end of this case is vram"
	case n.Heap && n.Initiator == n.Target:
		return "alloc heap is for host memory, and both ends of this case are vram: use vram_alloc"
	}
	return ""
}

// NoStage says why a case over a fabric lacks a metric of a stage of requests; "" if it has it, or that is unknown.
func NoStage(name, metric string, o Options) string {
	for _, f := range All {
		option, has := f.Stages[metric]
		switch {
		case !has:
		case name == f.Name && (option == "" || f.complete(o)[option] == "true"), name == AutoName && f.Auto != Never:
			return ""
		case option == "":
			return "only requests of fabric " + f.Name + " have it"
		default:
			return fmt.Sprintf("only requests of fabric %s with %s: true have it", f.Name, option)
		}
	}
	return ""
}

// OfStage reports whether a metric is of a stage that only requests of some fabrics have.
func OfStage(metric string) bool {
	return slices.ContainsFunc(All, func(f Fabric) bool { _, has := f.Stages[metric]; return has })
}

// PostsNothing says why no request of a case is posted; "" if requests are.
func PostsNothing(name string, n Needs) string {
	f, ok := Find(name)
	if !ok || f.PostsNothing == nil {
		return ""
	}
	n.Options = f.complete(n.Options)
	return f.PostsNothing(n)
}

// sleepers lists the fabrics that have wait sleep, for an error.
func sleepers() string {
	var always, others []string
	for _, f := range All {
		switch {
		case f.Sleeps && f.SleepsWith == "":
			always = append(always, f.Name)
		case f.Sleeps:
			others = append(others, f.Name+" with "+f.SleepsWith)
		}
	}
	return "fabric " + strings.Join(always, " and ") + " has it, and " + strings.Join(others, ", and ")
}
