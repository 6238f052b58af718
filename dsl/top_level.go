// Decoding of a whole file: loader.scenario and the keys outside of runs.

package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

var (
	identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// variantName may have spaces: case keys quote it.
	variantName = lazyregexp.New(`^[\pL\pN_]([\pL\pN_.+()/:& -]{0,98}[\pL\pN_.+)-])?$`)
	plainName   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

// defaults are the settings of runs that do not give their own.
type defaults struct {
	launches  []int
	tags      []string // of the file
	deadlines deadlines
	retry     *Retry
	env       []entry
	options   map[string][]entry // by workload
}

var rootSchema = schema{labelled: []string{"scenario"}}

func (l *loader) rootBlocks(body hcl.Body) hcl.Blocks {
	content, _, _ := body.PartialContent(rootSchema.hcl())
	return content.Blocks
}

// scenario decodes the whole file. from has the values of its variables given from outside.
func (l *loader) scenario(body hcl.Body, from map[string]*given) *module {
	m := &module{Scenario: &Scenario{File: l.file}}
	root := l.content(body, rootSchema, "the file")
	if len(root.Blocks) == 0 {
		if !l.diags.HasErrors() {
			l.error(root.MissingItemRange, "Missing scenario", "The file has no scenario.",
				`Begin it with scenario "NAME" { … }.`)
		}
		m.incomplete = true
		return m
	}
	for _, b := range root.Blocks[1:] {
		l.places.add(b.DefRange, "scenario "+b.Labels[0])
		l.error(b.DefRange, "Second scenario", "A file holds one scenario.", "Write each scenario into its own file.")
	}
	top := root.Blocks[0]
	m.Name = top.Labels[0]
	l.checkName(m.Name, top.LabelRanges[0])
	content := l.content(top.Body, schemaOf(slices.DeleteFunc(slices.Clone(grammar.Scenario),
		func(k grammar.Key) bool { return k.Name == "scenario" })), "a scenario")
	l.mark(content)
	own, dotted := map[string]*given{}, map[string]*given{}
	for name, g := range from {
		if strings.Contains(name, ".") {
			dotted[name] = g
		} else {
			own[name] = g
		}
	}
	m.Variables = l.variables(content, own)
	l.services = l.declaredServices(content)
	l.readVariants(content) // after the services and variables that variants change
	files := l.includes(content, dotted)
	l.scenarioKeys(m, content)
	drafts := l.runs(content, l.defaults(content))
	serviceChecker{l}.unused()
	l.merge(m, files)
	var runs []*Run
	for _, d := range drafts {
		l.distinctRun(m, d.run)
		m.runs = append(m.runs, d.run)
		runs = append(runs, d.run)
	}
	if len(m.runs) == 0 && !l.incomplete && !l.diags.HasErrors() {
		at := top.LabelRanges[0]
		if l.yaml {
			if keys, _ := top.Body.JustAttributes(); keys["runs"] != nil {
				at = keys["runs"].NameRange
			}
		}
		l.error(at, "No runs", "The scenario has no runs.", "Add a run with a workload.")
	}
	l.checkVariantOptions(runs)
	l.checkNeeds(runs, m.runs)
	l.compileAssertions(m, drafts, l.referencesOf(runs).read(content))
	m.Claims = append(m.Claims, (&claimReader{l, m.runs}).read(content)...)
	for _, r := range m.runs {
		l.root.addTo(r)
	}
	m.incomplete = l.incomplete
	m.Setup, m.Teardown, m.Runs = commandsOfSession(m.session.setup), commandsOfSession(m.session.teardown), m.runs
	return m
}

// mark records where sections begin, for the context of diagnostics.
func (l *loader) mark(content *hcl.BodyContent) {
	for _, a := range content.Attributes {
		l.places.add(a.NameRange, a.Name)
	}
	for _, b := range content.Blocks {
		if len(b.Labels) == 0 {
			l.places.add(b.DefRange, b.Type)
		}
	}
}

// scenarioKeys reads the keys of the scenario itself.
func (l *loader) scenarioKeys(m *module, content *hcl.BodyContent) {
	if expr := argument(content, "description"); expr != nil {
		m.Description, _ = l.text(expr, "description")
	}
	l.readBaseline(m, content)
	l.readInconclusive(m, content)
	m.Cluster = l.cluster(content)
	l.root = l.hooks(content, sessionScope)
	m.session = l.root
	for _, b := range content.Blocks {
		if b.Type != "check" {
			continue
		}
		c, made := l.check(b)
		if !made {
			continue
		}
		for _, other := range m.Checks {
			if other.Name == c.Name {
				l.error(c.Range, "Duplicate check", fmt.Sprintf("Check %q was already given.", c.Name),
					"Rename one of the two.")
			}
		}
		m.Checks = append(m.Checks, c)
	}
	m.Artifacts = l.artifacts(content)
}

func (l *loader) runs(content *hcl.BodyContent, d defaults) []*draft {
	var out []*draft
	for _, b := range content.Blocks {
		if b.Type == "run" {
			out = append(out, l.run(b, d))
		}
	}
	return out
}

// distinctRun reports a run with the name of another run of this file or of an included one.
func (l *loader) distinctRun(m *module, r *Run) {
	i := slices.IndexFunc(m.runs, func(o *Run) bool { return o.Name == r.Name })
	switch {
	case i < 0:
	case m.runs[i].Range.Filename == l.file:
		l.error(r.Range, "Duplicate run", fmt.Sprintf("Run %q was already given.", r.Name), "Rename one of the two.")
	default:
		l.error(r.Range, "Duplicate run", fmt.Sprintf("Run %q is also at %s, which this file includes.", r.Name,
			placeText(m.runs[i].Range)), "Rename it, or give the include a prefix with as.")
	}
}

func (d *decoder) checkName(name string, at hcl.Range) {
	if !plainName().MatchString(name) || len(name) > 100 {
		d.error(at, "Invalid name",
			fmt.Sprintf("%q is not a valid name: it becomes part of keys and file names.", name),
			"Use letters, digits, _ . and -, at most 100 of them.")
	}
}

func (l *loader) defaults(content *hcl.BodyContent) defaults {
	d := defaults{
		launches: []int{3, 5, 8, 12}, tags: l.tags(content, nil),
		deadlines: deadlines{launch: 5 * time.Minute}, options: map[string][]entry{},
	}
	inner := l.sectionContent(content, "defaults", schemaOf(grammar.Defaults))
	if inner == nil {
		return d
	}
	if expr := argument(inner, "launches"); expr != nil {
		d.launches = l.launches(expr)
	}
	d.deadlines = l.deadlines(inner, d.deadlines)
	d.retry = l.retry(inner)
	d.env = l.section(inner, "env")
	byWorkload := l.sectionContent(inner, "options", schema{sections: workload.Names()})
	for _, name := range workload.Names() {
		if byWorkload == nil {
			break
		}
		d.options[name] = l.section(byWorkload, name)
		kind, _ := workload.Lookup(name)
		for _, e := range d.options[name] {
			if _, ok := kind.Option(e.name); !ok {
				l.unknownOption(kind, e)
			}
		}
	}
	return d
}

// whyNoOption says why a workload does not take another workload's option; "" if it does, or if no
// workload has the option.
func whyNoOption(kind *workload.Kind, option string) string {
	if n, ok := kind.Behaviour.(workload.OptionRefuser); ok {
		return n.Without()[option]
	}
	return ""
}

func (l *loader) unknownOption(kind *workload.Kind, e entry) {
	if why := whyNoOption(kind, e.name); why != "" {
		l.error(e.at, "Unknown option", fmt.Sprintf("Workload %s has no option %q: %s.", kind.Name, e.name, why),
			"Remove it.")
		return
	}
	hint := suggest.Documented(e.name, optionNames(kind), "options", "weir docs workloads")
	if name, value, glued := strings.Cut(e.name, ":"); glued && value != "" && l.yaml {
		hint = fmt.Sprintf("Write a space after the colon: %s: %s.", name, value)
	} else if own := optionOfForeignName(kind, e.name); own != "" {
		hint = fmt.Sprintf("Did you mean %q?", own)
	} else if _, ofRun := grammar.Find(grammar.Run, e.name); ofRun || environmentName.MatchString(e.name) {
		hint = l.elsewhere(e.name, nil)
	} else if near := suggest.Nearest(e.name, optionNames(kind)); near == "" {
		hint = cmp.Or(workloadsWith(e.name), hint)
	}
	l.error(e.at, "Unknown option", fmt.Sprintf("Workload %s has no option %q.", kind.Name, e.name), hint)
}

// mostWorkloads is how many workloads with an option are named.
const mostWorkloads = 3

// workloadsWith is the hint for an option of a few other workloads; "": none has it.
func workloadsWith(name string) string {
	var kinds []string
	for _, k := range workload.Kinds() {
		if _, ok := k.Option(name); ok {
			kinds = append(kinds, k.Name)
		}
	}
	if len(kinds) == 0 || len(kinds) > mostWorkloads {
		return ""
	}
	return fmt.Sprintf("It is an option of %s: see `weir docs %s`.", strings.Join(kinds, ", "), kinds[0])
}

// foreignOptions maps option names of other benchmarks (nixlbench, perftest, NIXL EP's tests, MPI) to
// weir's.
var foreignOptions = map[string][]string{
	"ranks":            {"num_processes", "processes", "nprocs", "nproc", "np", "world_size", "ntasks", "num_ranks"},
	"iterations":       {"iters", "num_iter", "num_iters", "n"},
	"warmup":           {"warmup_iter", "warmup_iters", "num_warmup", "num_warmups"},
	"block_size":       {"size", "msg_size", "message_size", "start_block_size", "max_block_size"},
	"batch":            {"batch_size", "start_batch_size", "max_batch_size"},
	"threads":          {"num_threads"},
	"in_flight":        {"pipeline_depth", "queue_depth", "tx_depth", "window"},
	"op":               {"op_type", "xfer_op"},
	"verify":           {"check_consistency", "verify_buffers"},
	"tokens":           {"num_tokens"},
	"hidden":           {"hidden_dim", "hidden_size"},
	"top_k":            {"num_topk", "topk"},
	"experts_per_rank": {"num_experts_per_rank"},
	"memory":           {"mem_type"},
}

// optionOfForeignName returns the workload's option for a name of another benchmark; "" if there is none.
func optionOfForeignName(kind *workload.Kind, name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for own, others := range foreignOptions {
		if _, ok := kind.Option(own); ok && slices.Contains(others, name) {
			return own
		}
	}
	return ""
}
