package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/quantity"
	"weir/workload"
)

// Options are the texts of options that belong to one fabric, by name.
type Options map[string]string

// Needs are what a case asks of a fabric.
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

// VRAM is the kind of memory of GPUs. A host's description of a fabric has it as a detail: HasVRAM,
// or why the fabric does not move it there.
const (
	VRAM    = "vram"
	HasVRAM = "yes"
)

// VRAM says whether an end is in the memory of a GPU.
func (n Needs) VRAM() bool { return n.Initiator == VRAM || n.Target == VRAM }

// The texts of options are filled in before any workload takes these.
func init() {
	for _, f := range All {
		workload.ReadDocs(f.Docs).OfOptions(f.Options)
		for i := range f.Options {
			f.Options[i].For = map[string]string{"fabric": f.Name}
		}
	}
}

// OptionsOf are the options of all fabrics that a workload has, which moves matrices or
// does not, without some: first those with names of their own, then those with their fabric's
// name in front, each by the names of the fabrics.
func OptionsOf(matrix bool, without ...string) (named, prefixed []workload.Option) {
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

func (f Fabric) optionsOf(matrix bool, without []string) []workload.Option {
	all := slices.DeleteFunc(slices.Clone(f.Options),
		func(o workload.Option) bool { return slices.Contains(without, o.Name) })
	if !matrix {
		return all
	}
	if f.NoMatrix != "" {
		return nil
	}
	workload.ReadDocs(f.Docs).Under("Options with a matrix", all)
	return slices.DeleteFunc(all, func(o workload.Option) bool { return slices.Contains(f.WithoutMatrix, o.Name) })
}

// CheckedOptions are those of OptionsOf that Lacks and Read look at.
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

// Read reads the options of a fabric that moves bytes; nil: it has none. An option that a
// workload does not have has no value.
func Read(name string, get workload.Getter) (Options, error) {
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
		read[o.Name] = workload.Text(v)
	}
	return read, f.check(read)
}

// check is Check of all options, with those that have defaults.
func (f Fabric) check(o Options) error {
	if strings.ContainsAny(strings.Join(f.texts(o), ""), "\n\x00") {
		return fmt.Errorf("an option of fabric %s has a line break or a zero in its value", f.Name)
	}
	if f.Check == nil {
		return nil
	}
	return f.Check(f.complete(o))
}

func wrongType(o workload.Option, v any) error {
	kind := o.Type
	if kind == workload.Enum {
		kind = workload.String
	}
	return fmt.Errorf("option %s is %T, not a %s", o.Name, v, kind)
}

// complete has the defaults of the options that are not given.
func (f Fabric) complete(o Options) Options {
	all := Options{}
	for i, text := range f.texts(o) {
		all[f.Options[i].Name] = text
	}
	return all
}

// texts are the values of all options in their order.
func (f Fabric) texts(o Options) []string {
	var all []string
	for _, option := range f.Options {
		text, given := o[option.Name]
		if !given {
			text = workload.Text(option.Default)
		}
		all = append(all, text)
	}
	return all
}

// With are the options and others, which come before them.
func (o Options) With(others Options) Options {
	all := Options{}
	maps.Copy(all, o)
	maps.Copy(all, others)
	return all
}

// Lines are the values of all options of a fabric for the C engine: a line "name=value"
// for each.
func Lines(name string, o Options) (string, error) {
	f, _ := Find(name) // one without options, if there is none
	var lines strings.Builder
	for i, text := range f.texts(o) {
		fmt.Fprintf(&lines, "%s=%s\n", f.Options[i].Name, text)
	}
	return lines.String(), f.check(o)
}

// Lacks says what of a case's needs a fabric cannot do, "" if it can do all.
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

// gpuMemory says what keeps a case that needs memory of a GPU from it.
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
		return "pages " + n.Pages + " is of host memory, and an end of this case is vram"
	case n.Heap && n.Initiator == n.Target:
		return "alloc heap is of host memory, and both ends of this case are vram: vram_alloc says how that is allocated"
	}
	return ""
}

// NoStage says why a case over a fabric has no metric of a stage of requests; "": it has it, or nobody knows.
func NoStage(name, metric string, o Options) string {
	for _, f := range All {
		option, has := f.Stages[metric]
		switch {
		case !has:
		case name == f.Name && (option == "" || f.complete(o)[option] == "true"), name == AutoName && f.Auto != Never:
			return ""
		case option == "":
			return "it is of requests of fabric " + f.Name
		default:
			return fmt.Sprintf("it is of requests of fabric %s with %s: true", f.Name, option)
		}
	}
	return ""
}

// OfStage says whether a metric is of a stage that requests have over some fabrics only.
func OfStage(metric string) bool {
	return slices.ContainsFunc(All, func(f Fabric) bool { _, has := f.Stages[metric]; return has })
}

// PostsNothing says why nobody posts the requests of a case; "": somebody does.
func PostsNothing(name string, n Needs) string {
	f, ok := Find(name)
	if !ok || f.PostsNothing == nil {
		return ""
	}
	n.Options = f.complete(n.Options)
	return f.PostsNothing(n)
}

// sleepers are the fabrics that have wait sleep, in words.
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
