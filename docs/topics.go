package docs

import (
	"slices"
	"strings"
)

// words lead to pages that do not have them as names.
var words = map[string]string{
	"migrate": "moving", "migrating": "moving", "migration": "moving", "move": "moving", "porting": "moving",
	"switch": "moving", "switching": "moving", "other-tools": "moving",
	"kvbench": "nixlbench", "perftest": "ucx_perftest", "ib_write_bw": "ucx_perftest", "deepep": "ep-tests",
	"nixl-ep": "ep-tests", "vllm": "aiperf", "guidellm": "aiperf", "genai-perf": "aiperf", "curl": "kv-backends",
	"shell": "shell-scripts", "bash": "shell-scripts",
	"start": "first-scenario", "quickstart": "first-scenario", "getting-started": "first-scenario",
	"tutorial": "first-scenario", "installation": "install", "build": "install",
	"cli": "commands", "flags": "commands", "terms": "glossary", "terminology": "glossary",
	"verdict": "statistics-first", "verdicts": "statistics-first", "interval": "statistics-first",
	"github": "ci", "gitlab": "ci", "jenkins": "ci", "pipeline": "ci",
	"slow": "causes", "help": "troubleshooting", "errors": "troubleshooting", "problems": "troubleshooting",
	"scenario": "language", "scenarios": "language", "yaml": "language", "hcl": "language", "syntax": "language",
	"sweep": "axes", "sweeps": "axes", "axis": "axes", "expressions": "variables", "assert": "assertions",
	"baseline": "baselines", "references": "baselines", "claims": "baselines", "only": "selectors",
	"checks": "setup", "artifacts": "setup", "servers": "services", "helm": "services",
	"options": "workloads", "exit-code": "exit-codes", "formats": "reports", "env": "environment",
	"ssh": "clusters", "slurm": "clusters", "kubernetes": "clusters", "k8s": "clusters", "cuda": "gpu", "vram": "gpu",
	"security": "threat-model", "performance": "speed", "overhead": "speed", "licenses": "licences",
	"importing": "import", "gain": "variants", "gains": "variants", "push": "ci", "grafana": "ci", "otlp": "ci",
	"opentelemetry": "ci", "prometheus": "ci", "waiver": "ci", "waivers": "ci", "xfail": "assertions",
	"may_fail": "assertions", "trend": "ci", "history": "ci", "a/b": "variants", "ab": "variants",
	"openai": "serving", "endpoint": "serving", "slo": "serving", "search": "serving", "goodput": "serving",
	"moe": "ep", "experts": "ep", "regex": "command", "parse": "command", "timeout": "runs", "retry": "runs",
	"resume": "faults", "noise": "statistics-first", "flaky": "statistics-first", "inconclusive": "statistics-first",
	"junit": "reports", "html": "reports", "csv": "reports", "openmetrics": "reports",
}

// spelt is a topic in the spelling of page names: case, and what joins words, do not count.
func spelt(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Topic returns the pages about a topic, in the singular or the plural: one page with its name or its file, or those of
// a folder or a group of the index; none if there is no such topic.
func Topic(name string) []Page {
	if p, ok := Lookup(name); ok {
		return []Page{p}
	}
	if file, ok := strings.CutSuffix(name, ".md"); ok { // as a link of another page names it
		p, _ := find(func(_ Group, p Page) bool { return p.File == strings.TrimPrefix(file, "docs/")+".md" })
		return slices.DeleteFunc([]Page{p}, func(p Page) bool { return p.File == "" })
	}
	topic := spelt(name)
	if section, ok := strings.CutPrefix(topic, "language-"); ok {
		return slices.DeleteFunc(Topic(section), func(p Page) bool { return !slices.Contains(Sections(), p.Name) })
	}
	if word, ok := words[topic]; ok {
		return Topic(word)
	}
	if word, ok := words[strings.ReplaceAll(topic, "-", "_")]; ok {
		return Topic(word)
	}
	if p, ok := find(func(_ Group, p Page) bool { return spelt(p.Name) == topic }); ok {
		return []Page{p}
	}
	var all []Page
	for _, g := range Index {
		for _, p := range g.Pages {
			if spelt(g.Title) == topic || strings.HasPrefix(p.File, topic+"/") {
				all = append(all, p)
			}
		}
	}
	if len(all) == 0 && !strings.HasSuffix(topic, "s") {
		return Topic(topic + "s")
	}
	return all
}

// Sections are the names of the pages about the language.
func Sections() (names []string) {
	for _, g := range Index {
		for _, p := range g.Pages {
			if g.Title == Language {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// Topics are the words that Topic knows: the names of pages and others.
func Topics() []string {
	all := Names()
	for word := range words {
		all = append(all, word)
	}
	for _, g := range Index {
		for _, p := range g.Pages {
			if folder, _, ok := strings.Cut(p.File, "/"); ok {
				all = append(all, folder)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
