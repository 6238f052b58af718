// Package docs has the pages of the documentation, as weir docs prints them and docs/README.md lists them.
package docs

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.md */*.md
var files embed.FS

// Page is a page of the documentation. One without a file is a reference that the program makes of its own tables.
type Page struct {
	Name  string // weir docs NAME
	File  string // below docs
	About string // one line
}

// Group is a part of the index.
type Group struct {
	Title string
	Pages []Page
}

func page(file, about string) Page {
	return Page{Name: strings.TrimSuffix(path.Base(file), ".md"), File: file, About: about}
}

func reference(name, about string) Page { return Page{Name: name, About: about} }

// in says which page the reference has on GitHub.
func (p Page) in(file string) Page {
	p.File = file
	return p
}

// Language is the title of the group that describes scenarios.
const Language = "Language"

// Index has all pages, in the order in which they are listed.
var Index = []Group{
	{"Begin", []Page{
		page("install.md", "what weir needs, and how it is built and installed"),
		page("first-scenario.md", "from an empty directory to a gate in CI, in 15 minutes"),
		page("commands.md", "the commands and their exit codes"),
		page("glossary.md", "the terms of scenarios, reports and these pages"),
		page("statistics-first.md", "intervals and verdicts for non-statisticians"),
		page("ci.md", "weir in CI: jobs, exit codes, open verdicts"),
		page("causes.md", "likely causes of a slow path, and what to do"),
		page("troubleshooting.md", "symptoms, their causes, what to do"),
	}},
	{"Workloads", []Page{
		page("workloads/transfer.md", "blocks between ranks: bandwidth and latency of a path"),
		page("workloads/traffic.md", "a traffic matrix: all ranks send at once"),
		page("workloads/traffic_sequence.md", "matrices one after the other, with sleeps between them"),
		page("workloads/ep.md", "dispatch and combine of an expert-parallel layer"),
		page("workloads/ep_control.md", "setup and teardown of an expert-parallel group"),
		page("workloads/ep_elastic.md", "a group that grows, shrinks and loses ranks"),
		page("workloads/command.md", "programs of others, and what they print"),
		page("workloads/serving.md", "load on an OpenAI-compatible endpoint"),
	}},
	{Language, []Page{
		page("language.md", "what a scenario file is, and where each of its keys is explained"),
		page("language/axes.md", "sweeps over lists, ranges and combinations of values; order of launches"),
		page("language/units.md", "sizes, rates and times, and the types of values"),
		page("language/variables.md", "variables, expressions in `${…}`, values that other runs measured"),
		page("language/functions.md", "functions of expressions, with examples"),
		page("language/runs.md", "options, launches, cost, time limits, needs, background load, placement"),
		page("language/assertions.md", "what must hold, and which failures are expected"),
		page("language/selectors.md", "names of cases, and patterns for `--only` and `--skip`"),
		page("language/variants.md", "named rows of settings, such as two builds of a library"),
		page("language/baselines.md", "expected values of earlier sessions and of tables"),
		page("language/setup.md", "commands, checks and artifacts on the nodes"),
		page("services.md", "servers that runs need, as programs, Kubernetes objects or Helm charts"),
	}},
	{"Reference", []Page{
		reference("workloads", "options and metrics of workloads; `weir docs workloads NAME` prints one"),
		reference("metrics", "exact definitions of metrics; `weir docs metrics NAME` prints one"),
		reference("generate", "fields of traffic that follows from a model"),
		page("statistics.md", "how verdicts are found, and how often they are wrong"),
		page("reasons.md", "every kind of reasons of a verdict, and what to do"),
		reference("reports", "every format of `--report`"),
		reference("exit-codes", "every exit code"),
		page("environment.md", "which environment variables reach ranks"),
	}},
	{"Clusters", []Page{
		page("clusters.md", "many hosts: a quick start for each launcher"),
		page("hosts.md", "sessions on many hosts: ssh, Slurm, Kubernetes, registered agents"),
		page("gpu.md", "what runs on GPUs, and what was measured there"),
		page("faults.md", "what a session does when something breaks"),
		page("threat-model.md", "what is protected from whom"),
	}},
	{"Other tools", []Page{
		page("moving/nixlbench.md", "from nixlbench and kvbench to weir"),
		page("moving/ct-perftest.md", "from ct-perftest and sequential-ct-perftest"),
		page("moving/ucx_perftest.md", "from ucx_perftest and perftest"),
		page("moving/ep-tests.md", "from the tests of NIXL EP and DeepEP"),
		page("moving/aiperf.md", "from aiperf, guidellm and vLLM's bench"),
		page("moving/kv-backends.md", "from a loop of curl over KV-cache backends"),
		page("moving/dynamo.md", "from a benchmark plan for Dynamo, step by step"),
		page("moving/shell-scripts.md", "from shell scripts"),
		reference("import", "flags of nixlbench and other tools, and what becomes of them").in("import.md"),
		page("tools.md", "outputs of other tools that weir reads"),
	}},
	{"Facts", []Page{
		page("speed.md", "what weir measures beside other tools, and how fast it is"),
		page("scale.md", "what sessions of many ranks cost"),
		page("limits.md", "what this version lacks, and what was not tested"),
		page("compatibility.md", "which files later versions read, and what may change"),
		page("engine.md", "the design of the C engine, for maintainers"),
		page("dependencies.md", "modules that weir requires: why, how heavy, what would replace them"),
		page("licences.md", "licences of what weir is linked with"),
	}},
}

// Lookup finds a page by its name. A page about the language has the name "language NAME", too.
func Lookup(name string) (Page, bool) {
	return find(func(g Group, p Page) bool {
		return p.Name == name || g.Title == Language && "language "+p.Name == name
	})
}

func find(is func(Group, Page) bool) (Page, bool) {
	for _, g := range Index {
		for _, p := range g.Pages {
			if is(g, p) {
				return p, true
			}
		}
	}
	return Page{}, false
}

// Names are those of all pages.
func Names() (names []string) {
	for _, g := range Index {
		for _, p := range g.Pages {
			names = append(names, p.Name)
		}
	}
	return names
}

// Mentioning are the names of up to five pages that have a text as words, those that have it most often first. Case
// does not count.
func Mentioning(text string) (names []string) {
	word := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(text) + `($|[^\pL\pN])`)
	type found struct {
		name string
		n    int
	}
	var all []found
	for _, g := range Index {
		for _, p := range g.Pages {
			content, err := p.Text()
			if n := len(word.FindAllString(content, -1)); err == nil && n > 0 {
				all = append(all, found{p.Name, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.n - a.n })
	for _, f := range all[:min(len(all), 5)] {
		names = append(names, f.name)
	}
	return names
}

// Text is the page as its file has it.
func (p Page) Text() (string, error) {
	text, err := files.ReadFile(p.File)
	return string(text), err
}

// Listing is the index for a terminal.
func Listing() string {
	var b strings.Builder
	width := 0
	for _, name := range Names() {
		width = max(width, len(name))
	}
	for _, g := range Index {
		fmt.Fprintf(&b, "%s\n", g.Title)
		list(&b, g.Pages, width)
		b.WriteByte('\n')
	}
	return b.String()
}

// ListingOf lists some pages as Listing does.
func ListingOf(pages []Page) string {
	var b strings.Builder
	width := 0
	for _, p := range pages {
		width = max(width, len(p.Name))
	}
	list(&b, pages, width)
	return b.String()
}

func list(b *strings.Builder, pages []Page, width int) {
	for _, p := range pages {
		fmt.Fprintf(b, "  %-*s  %s\n", width, p.Name, strings.ReplaceAll(p.About, "`", ""))
	}
}

// Markdown is the index for docs/README.md.
func Markdown() string {
	var b strings.Builder
	for _, g := range Index {
		fmt.Fprintf(&b, "\n## %s\n\n| page | what it has |\n|---|---|\n", g.Title)
		for _, p := range g.Pages {
			name := fmt.Sprintf("`weir docs %s`", p.Name)
			if p.File != "" {
				name = fmt.Sprintf("[%s](%s)", p.Name, p.File)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, p.About)
		}
	}
	return b.String()
}

var link = regexp.MustCompile(`\[([^\]\n]+)\]\(([^)\s]+)\)`)

// unbroken is a space at which no line is broken.
const unbroken = "\x00"

// nested matches a link that unlinked has put in parentheses within others.
var nested = regexp.MustCompile("\\(([^()]*) \\((`[^`]*`)\\)\\)")

// unlinked names the target of each link as a reader of a terminal reaches it.
func unlinked(text string) string {
	text = link.ReplaceAllStringFunc(text, func(whole string) string {
		m := link.FindStringSubmatch(whole)
		words, target := m[1], m[2]
		if strings.Contains(target, "://") {
			return words + " (" + target + ")"
		}
		file, _, _ := strings.Cut(target, "#")
		p, ok := find(func(_ Group, p Page) bool { return p.File != "" && path.Base(p.File) == path.Base(file) })
		if !ok {
			return words
		}
		command := "`weir" + unbroken + "docs" + unbroken + p.Name + "`"
		if words == p.Name || strings.HasSuffix(words, ".md") {
			return command
		}
		return words + " (" + command + ")"
	})
	return nested.ReplaceAllString(text, "($1, $2)")
}
