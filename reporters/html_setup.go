package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// mostSettings is how many values of an option are named.
const mostSettings = 6

// setup lists the settings of a run's cases: fabric and transport as read back, options that differ from
// defaults, environment, ranks and placement. Axes are listed with the cases.
func setup(cases []*results.Case) []html.Setting {
	if len(cases) == 0 {
		return nil
	}
	kind, _ := workload.Lookup(cases[0].Workload)
	var out []html.Setting
	add := func(name, doc string, values []string) {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if len(values) == 0 {
			return
		}
		more := len(values) - mostSettings
		if more > 0 {
			values = append(slices.Clone(values[:mostSettings]), fmt.Sprintf("%d further values", more))
		}
		value := clip(plain(strings.Join(values, " or ")), " …")
		out = append(out, html.Setting{Name: plain(name), Value: value, Doc: doc})
	}
	doc := ""
	if kind != nil {
		doc = kind.Doc
	}
	add("workload", doc, []string{cases[0].Workload})
	add("fabric", "What carried the data, as reported by the ranks.", fabricsOf(cases))
	add("transport", "Transports reported by the fabric's library after the launch.", transportsOf(cases))
	add("provider", "Provider facts reported by the fabric's library after the launch.", providersOf(cases))
	add("provider settings", "Limits of the provider, and variables of the library: as set, or the default that it states.",
		ofLaunchesOnce(cases, func(l *results.Launch) string {
			return results.ProviderText(results.ProviderSettings(l.Provider))
		}))
	add("libraries", "Libraries of the fabric that the ranks had loaded: version, file and build.", librariesIn(cases))
	add("placement", "Processes of a launch and their nodes.", placesOf(cases))
	add("link", "Share of the site's nominal bandwidth that the best launch reached.", linksOf(cases))
	add("bindings", "Exclusive resources of each rank on its node.", bindingsOf(cases))
	for _, o := range optionsOf(kind, cases) {
		add(o.name, o.doc, o.values)
	}
	files := map[string][]string{}
	for _, c := range cases {
		for option, path := range c.Files {
			files[option] = ordered.Append(files[option], path)
		}
	}
	for _, option := range slices.Sorted(maps.Keys(files)) {
		add(option, "A file from which an option took its value, as the scenario names it.", files[option])
	}
	env := map[string][]string{}
	for _, c := range cases {
		for name, value := range c.ResolvedEnv() {
			if _, axis := c.Axes["env."+name]; !axis && !slices.Contains(env[name], value) {
				env[name] = append(env[name], value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		add("env "+name, "An environment variable that the scenario sets.", env[name])
	}
	return out
}

// setupBrief is shown while the settings of a run are folded: the workload and what carried its data.
func setupBrief(all []html.Setting) string {
	var parts []string
	for _, s := range all {
		switch s.Name {
		case "workload":
			parts = append(parts, s.Value)
		case "fabric":
			parts = append(parts, "over "+s.Value)
		}
	}
	return clip(strings.Join(parts, " "), " …")
}

// librariesIn lists the libraries that ranks loaded; with the value of the axis that decides them, if one does.
func librariesIn(cases []*results.Case) []string {
	if lines := libraryLines(cases); lines != nil {
		return lines
	}
	return ofLaunchesOnce(cases, func(l *results.Launch) string { return results.LibrariesText(l.Libraries) })
}

// ofLaunchesOnce lists the distinct texts of launches, in order.
func ofLaunchesOnce(cases []*results.Case, of func(*results.Launch) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range cases {
		for _, l := range c.Launches {
			if text := of(l); text != "" && !seen[text] {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}

func fabricsOf(cases []*results.Case) []string {
	read := ofLaunchesOnce(cases, func(l *results.Launch) string { return l.Fabric })
	if len(read) > 0 {
		return read
	}
	var asked []string
	for _, c := range cases {
		if v := setting(c, "fabric"); v != "-" && !slices.Contains(asked, v) {
			asked = append(asked, v)
		}
	}
	return asked
}

func transportsOf(cases []*results.Case) []string {
	return ofLaunchesOnce(cases, func(l *results.Launch) string {
		if text := results.CarriedBy(l.Transports); text != "" {
			return text
		}
		return l.Transport
	})
}

// providersOf lists the provider facts read back, without their many settings.
func providersOf(cases []*results.Case) []string {
	return ofLaunchesOnce(cases, func(l *results.Launch) string {
		return results.ProviderText(results.ProviderFacts(l.Provider))
	})
}

// placesOf lists the ranks and nodes of launches.
func placesOf(cases []*results.Case) []string {
	return ofLaunchesOnce(cases, func(l *results.Launch) string {
		if len(l.Nodes) == 0 {
			return ""
		}
		var parts []string
		for from := 0; from < len(l.Nodes); {
			to := from + 1
			for to < len(l.Nodes) && l.Nodes[to] == l.Nodes[from] {
				to++
			}
			ranks := fmt.Sprintf("%d–%d", from, to-1)
			if to-from == 1 {
				ranks = fmt.Sprint(from)
			}
			parts = append(parts, ranks+" on "+l.Nodes[from])
			if from = to; len(parts) == mostShown {
				parts = append(parts, "…")
				break
			}
		}
		return fmt.Sprintf("%d: %s", len(l.Nodes), strings.Join(parts, ", "))
	})
}

func bindingsOf(cases []*results.Case) []string {
	return ofLaunchesOnce(cases, func(l *results.Launch) string {
		var parts []string
		for i, s := range l.Bindings {
			if i == mostShown {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, s.String())
		}
		return strings.Join(parts, "; ")
	})
}

// setOption is an option that differs from its default.
type setOption struct {
	name, doc string
	values    []string
}

// optionsOf lists options of cases, without axes and defaults, in the order of the workload's table.
// Matrices and files are shown elsewhere.
func optionsOf(kind *workload.Kind, cases []*results.Case) []setOption {
	if kind == nil {
		return nil
	}
	var out []setOption
	for _, o := range kind.Options {
		if o.Name == "fabric" || slices.Contains([]option.Type{option.Matrix, option.Data, option.Patterns,
			option.Model}, o.Type) {
			continue
		}
		one, usual := setOption{name: o.Name, doc: o.Doc}, true
		for _, c := range cases {
			v, ok := c.ResolvedOptions()[o.Name]
			if _, axis := c.Axes[o.Name]; axis || !ok || v == nil {
				continue
			}
			text := option.Text(v)
			usual = usual && o.Default != nil && text == option.Text(o.Default)
			if flow, is := o.Flow(text); is {
				text = shortened(flow)
			}
			one.values = ordered.Append(one.values, text)
		}
		if len(one.values) > 1 {
			one.values = decided(o.Name, one.values, cases)
		}
		if len(one.values) > 0 && !usual {
			out = append(out, one)
		}
	}
	return out
}

// decided adds to each value of an option the value of the axis that determines it, if one does: "8GB/s
// (variant=stock)".
func decided(name string, values []string, cases []*results.Case) []string {
	for _, axis := range axes(cases) {
		if valuesOn(cases, axis) != len(values) || !follows(cases, name, axis) {
			continue
		}
		var out []string
		for _, c := range cases {
			text := fmt.Sprintf("%s (%s=%s)", setting(c, name), axis, on(c, axis))
			out = ordered.Append(out, text)
		}
		return out
	}
	return values
}

// linksOf lists the shares of links that cases reached.
func linksOf(cases []*results.Case) (all []string) {
	for _, c := range cases {
		all = ordered.Append(all, linkText(c))
	}
	return all
}
