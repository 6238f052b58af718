package results

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
)

// Library is a library of the fabric that ranks of a launch loaded.
type Library struct {
	Name    string `json:"name" doc:"Of its file, without versions."`
	File    string `json:"file" doc:"That was loaded, links resolved."`
	Version string `json:"version,omitempty" doc:"That the library reports of itself; only of the fabric's own."`
	Build   string `json:"build,omitempty" doc:"Its GNU build id; sha256:… of the file if it has none; absent if the file could not be read."`
	Ranks   []int  `json:"ranks"` // that loaded it, ascending
}

// MergeLibraries merges the libraries of ranks, in the order in which they are first listed.
func MergeLibraries(list []Library) []Library {
	type key struct{ name, file, version, build string }
	return mergeRanks(list, func(l *Library) *[]int { return &l.Ranks },
		func(l Library) key { return key{l.Name, l.File, l.Version, l.Build} })
}

// mergeRanks merges entries of ranks that have the same key, in the order in which they are first listed.
func mergeRanks[T any, K comparable](list []T, ranks func(*T) *[]int, key func(T) K) []T {
	var same ordered.Groups[K, T]
	for _, entry := range list {
		same.Add(key(entry), entry)
	}
	var out []T
	for _, group := range same.All() {
		var all []int
		for i := range group {
			all = append(all, *ranks(&group[i])...)
		}
		slices.Sort(all)
		*ranks(&group[0]) = slices.Compact(all)
		out = append(out, group[0])
	}
	return out
}

// identity is equal for libraries of the same build: the build if it is known, else the file.
func (l Library) identity() string {
	if l.Build != "" {
		return l.Name + " " + l.Build
	}
	return l.Name + " " + l.File
}

// shownBuild is how many characters of a build id texts have.
const shownBuild = 12

// String is "libucp 1.17.0, /opt/ucx/lib/libucp.so.0.0.0, build 1a2b3c4d5e6f".
func (l Library) String() string {
	text := l.Name
	if l.Version != "" {
		text += " " + l.Version
	}
	text += ", " + l.File
	if id := strings.TrimPrefix(l.Build, "sha256:"); id != "" {
		text += ", build " + id[:min(shownBuild, len(id))]
	}
	return text
}

// LibrariesText lists libraries; "" if there are none.
func LibrariesText(list []Library) string {
	texts := make([]string, len(list))
	for i, l := range list {
		texts[i] = l.String()
	}
	return strings.Join(texts, "; ")
}

// Libraries returns the libraries that the successful launches of the case loaded.
func (c *Case) Libraries() []Library {
	var all []Library
	for _, l := range c.Succeeded() {
		all = append(all, l.Libraries...)
	}
	return MergeLibraries(all)
}

// SameBuild are cases of a run that choose their libraries by different values of variables, and loaded the
// same ones.
type SameBuild struct {
	Run       string
	Variables []string // that differ between Of and Other, ascending
	Of, Other *Case    // the first cases of either choice
	Libraries []Library
}

// SameBuilds returns them, for each run each pair of choices once.
func SameBuilds(doc *Document) (all []SameBuild) {
	type choice struct {
		variables map[string]string
		first     *Case
		of        string // identities of what it loaded
	}
	runs := map[string][]choice{}
	for _, c := range doc.Cases {
		libraries := c.Libraries()
		if len(libraries) == 0 {
			continue
		}
		now := choice{librariesChosen(c), c, identities(libraries)}
		known := false
		for _, had := range runs[c.Run] {
			differ := differing(had.variables, now.variables)
			known = known || len(differ) == 0
			if !known && had.of == now.of {
				all = append(all, SameBuild{c.Run, differ, had.first, c, libraries})
			}
		}
		if !known {
			runs[c.Run] = append(runs[c.Run], now)
		}
	}
	return all
}

func identities(list []Library) string {
	var all []string
	for _, l := range list {
		all = append(all, l.identity())
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// librariesChosen are the variables of a case that say where libraries are.
func librariesChosen(c *Case) map[string]string {
	out := map[string]string{}
	for name, value := range c.ResolvedEnv() {
		if choosesLibrary(name) {
			out[name] = value
		}
	}
	return out
}

// librarySuffixes end the names of variables that name libraries, plugins, or their folders.
var librarySuffixes = []string{
	"_LIBRARY", "_LIBRARY_PATH", "_PLUGIN_DIR", "_PLUGIN_PATH", "_PROVIDER_PATH", "_MODULE_DIR",
}

func choosesLibrary(name string) bool {
	return name == "LD_PRELOAD" ||
		slices.ContainsFunc(librarySuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// differing lists the names with different values, ascending.
func differing(a, b map[string]string) (names []string) {
	for name := range a {
		if value, ok := b[name]; !ok || value != a[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// librariesByName lists the libraries that a case's launches loaded; several of a name are joined.
func librariesByName(c *Case) map[string]string {
	out := map[string]string{}
	for _, l := range c.Libraries() {
		if had := out[l.Name]; had != "" {
			out[l.Name] = had + or + l.String()
			continue
		}
		out[l.Name] = l.String()
	}
	return out
}
