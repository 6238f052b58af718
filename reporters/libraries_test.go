package reporters

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// builds is a document of a run with a case for each library, whose variants name the files.
func builds(t *testing.T, libraries map[string]results.Library) *results.Document {
	t.Helper()
	doc := read(t, "passed")
	first := *doc.Cases[0]
	doc.Cases = nil
	for _, variant := range []string{"stock", "patched", "again"} {
		library, ok := libraries[variant]
		if !ok {
			continue
		}
		c := first
		c.Run, c.Key = "path", "path[variant="+variant+"]"
		c.Axes, c.AxisOrder = map[string]any{"variant": variant}, []string{"variant"}
		c.Env = map[string]string{"WEIR_NIXL_LIBRARY": "/opt/" + variant + "/libnixl_capi.so", "UCX_TLS": "tcp"}
		l := *first.Launches[0]
		l.Status, l.Libraries = results.OK, []results.Library{library,
			{Name: "libucp", File: "/usr/lib/libucp.so.0.0.0", Build: "cc", Ranks: []int{0, 1}}}
		c.Launches = []*results.Launch{&l}
		doc.Cases = append(doc.Cases, &c)
	}
	return doc
}

func nixlOf(file, build string) results.Library {
	return results.Library{Name: "libnixl_capi", File: file, Version: "1.0", Build: build, Ranks: []int{0, 1}}
}

// A reader learns which file each variant's ranks loaded.
func TestLibrariesOfVariants(t *testing.T) {
	doc := builds(t, map[string]results.Library{
		"stock":   nixlOf("/opt/stock/libnixl_capi.so", "aaaaaaaaaaaaaaaa"),
		"patched": nixlOf("/opt/patched/libnixl_capi.so", "bb"),
	})
	want := []string{
		"libraries of variant=stock: libnixl_capi 1.0, /opt/stock/libnixl_capi.so, build aaaaaaaaaaaa",
		"libraries of variant=patched: libnixl_capi 1.0, /opt/patched/libnixl_capi.so, build bb",
	}
	if got := libraryLines(doc.Cases); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, format := range []string{"table", "markdown", "html", "csv-launches", "junit"} {
		text := strings.NewReplacer(`\_`, "_").Replace(written(t, format, doc))
		for _, file := range []string{"/opt/stock/libnixl_capi.so", "/opt/patched/libnixl_capi.so"} {
			if !strings.Contains(text, file+", build") {
				t.Errorf("%s does not say that %s was loaded", format, file)
			}
		}
		if strings.Contains(text, sameBuildTitle) || strings.Contains(text, "the same build") {
			t.Errorf("%s takes different builds for the same:\n%s", format, text)
		}
	}
}

// Variants that name different libraries and loaded the same file, or a copy of it, are the same build.
func TestVariantsOfTheSameBuild(t *testing.T) {
	same := nixlOf("/usr/lib/libnixl_capi.so", "aa")
	for name, libraries := range map[string]map[string]results.Library{
		"file":          {"stock": same, "patched": same},
		"copy":          {"stock": same, "patched": nixlOf("/opt/patched/libnixl_capi.so", "aa")},
		"unknown build": {"stock": nixlOf("/usr/lib/x.so", ""), "patched": nixlOf("/usr/lib/x.so", "")},
		"one of three":  {"stock": nixlOf("/a", "bb"), "patched": same, "again": same},
	} {
		doc := builds(t, libraries)
		got := sameBuilds(doc)
		if len(got) != 1 || !strings.Contains(got[0], "different values of WEIR_NIXL_LIBRARY, but loaded the same build") {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for _, format := range []string{"table", "markdown", "html"} {
			if text := strings.NewReplacer(`\_`, "_").Replace(written(t, format, doc)); !strings.Contains(
				strings.Join(strings.Fields(text), " "), "but loaded the same build") {
				t.Errorf("%s: %s does not warn:\n%s", name, format, text)
			}
		}
	}
	doc := builds(t, map[string]results.Library{"stock": same, "patched": same})
	for _, c := range doc.Cases {
		c.Env["WEIR_NIXL_LIBRARY"] = "/usr/lib/libnixl_capi.so"
	}
	doc.Cases[0].Env["UCX_TLS"] = "rc" // chooses no library
	if got := sameBuilds(doc); got != nil {
		t.Errorf("variants that do not name libraries: %q", got)
	}
}
