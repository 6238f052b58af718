package reporters

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// element is a node of a page that was read back by a parser.
type element struct{ *html.Node }

func parsePage(t interface {
	Helper()
	Fatal(...any)
}, doc *results.Document) element {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, doc); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return element{root}
}

// all are the elements of a name below this one; "" has any.
func (e element) all(name string) []element {
	var out []element
	for n := range e.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			out = append(out, element{n})
		}
	}
	return out
}

func (e element) attribute(name string) string {
	for _, a := range e.Attr {
		if a.Key == name || a.Namespace+":"+a.Key == name {
			return a.Val
		}
	}
	return ""
}

// id is the element with this id.
func (e element) id(t testing.TB, id string) element {
	t.Helper()
	for _, x := range e.all("") {
		if x.attribute("id") == id {
			return x
		}
	}
	t.Fatalf("nothing has the id %s", id)
	return element{}
}

// text is all text below, with single spaces.
func (e element) text() string {
	var b strings.Builder
	for n := range e.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (e element) rows() [][]string {
	var out [][]string
	for _, tr := range e.all("tr") {
		var cells []string
		for _, td := range tr.all("td") {
			cells = append(cells, td.text())
		}
		if cells != nil {
			out = append(out, cells)
		}
	}
	return out
}

// The page begins with the verdict and the results, then says what failed, by how much, how surely,
// where it was asserted, on which node, and how to run just that again.
func TestPageSaysWhatFailed(t *testing.T) {
	page := parsePage(t, read(t, "failed"))
	if got := page.all("h1")[0].text(); got != "✗ failed regression" {
		t.Errorf("headline %q", got)
	}
	text := page.id(t, "finding-bandwidth[block_size=4KiB]_floor").text()
	for _, want := range []string{
		"✗ fail bandwidth[block_size=4KiB] floor", "bandwidth 2.19 GB/s (96% CI 2.1–2.3 over 4 looks, n=3)",
		"promised bandwidth in [1, 2] GB/s",
		"margin 9.4% above 2 GB/s", "faster than expected", "asserted at examples/x.yaml:31",
		"launch 1 on n1, n1: 2.199 GB/s",
		"weir run 'examples/regression.yaml' --only 'bandwidth[block_size=4KiB]'",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the first finding does not say %q: %s", want, text)
		}
	}
	var order []string
	for _, h := range page.all("h2") {
		order = append(order, strings.Fields(h.text())[0])
	}
	want := []string{"bandwidth", "Failed", "Warnings", "Charts:", "Timeline", "Environment", "Definitions"}
	if !inOrder(order, want) {
		t.Errorf("sections %v, want among them in this order %v", order, want)
	}
}

func inOrder(got, want []string) bool {
	for _, w := range want {
		i := slices.Index(got, w)
		if i < 0 {
			return false
		}
		got = got[i+1:]
	}
	return true
}

// The table of a run has the numbers of the other reports, from the same formatter,
// with every case that was planned.
func TestPageHasTheTableOfEachRun(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		page := parsePage(t, doc)
		for i, g := range grids(doc) {
			section := page.id(t, fmt.Sprintf("run-%d", i+1))
			var rows [][]string
			for _, box := range section.all("table")[:1] {
				rows = box.rows()
			}
			if len(rows) != len(g.cases) {
				t.Fatalf("%s: %d rows for %d cases of run %s", name, len(rows), len(g.cases), g.run)
			}
			for k, c := range g.cases {
				for j, column := range g.columns {
					if want := strings.Join(strings.Fields(column.cell(c)), " "); rows[k][j] != want {
						t.Errorf("%s: cell %q of %s is %q, want %q", name, column.head, c.Key, rows[k][j], want)
					}
				}
			}
		}
	}
}

// What a browser may load and run is the page's own sheet and script, named by their hashes;
// nothing else is in it that could run, and nothing that a policy without styles takes away.
func TestPageNeedsNothingElse(t *testing.T) {
	for _, name := range documents {
		page := parsePage(t, read(t, name))
		policy := ""
		for _, m := range page.all("meta") {
			if m.attribute("http-equiv") == "Content-Security-Policy" {
				policy = m.attribute("content")
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Fatalf("policy %q", policy)
		}
		for kind, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
			allowed := directive
			for _, e := range page.all(kind) {
				if e.attribute("type") == "application/json" {
					continue // data, which nothing runs
				}
				sum := sha256.Sum256([]byte(e.FirstChild.Data))
				allowed += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			if allowed == directive || !strings.Contains(policy, allowed+";") {
				t.Errorf("%s: policy %q does not let in its own %s alone, %s", name, policy, kind, allowed)
			}
		}
		for _, e := range page.all("") {
			for _, a := range e.Attr {
				switch {
				case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s %s=%q>", name, e.Data, a.Key, a.Val)
				case a.Key == "src" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") && a.Val != "data:,":
					t.Errorf("%s: <%s> leads out of the page: %q", name, e.Data, a.Val)
				}
			}
		}
	}
}

// Every metric that is named leads to its definition in the page, word for word the registry's.
func TestPageDefinesWhatItShows(t *testing.T) {
	page := parsePage(t, read(t, "traffic"))
	kind, _ := workload.Lookup("traffic")
	links := 0
	for _, a := range page.all("a") {
		if a.attribute("class") != "metric" {
			continue
		}
		links++
		id := strings.TrimPrefix(a.attribute("href"), "#")
		at := page.id(t, id)
		m, ok := kind.Metric(strings.TrimPrefix(id, "m-traffic-"))
		if !ok || !strings.HasPrefix(at.text(), m.Name) {
			t.Fatalf("%s leads to %q", id, at.text())
		}
		if abbr := a.all("abbr"); len(abbr) != 1 || abbr[0].attribute("title") != m.Doc ||
			!strings.Contains(page.id(t, "definitions").text(), m.Doc) {
			t.Errorf("%s is not defined as in the registry", m.Name)
		}
	}
	if links < 10 {
		t.Errorf("only %d metrics lead to their definitions", links)
	}
}

// Charts have a name, and say in words what each point is.
func TestPageCharts(t *testing.T) {
	page := parsePage(t, read(t, "failed"))
	all := charts(t, page)
	if len(all) < 3 {
		t.Errorf("%d charts", len(all))
	}
	for _, c := range all {
		if c.Name == "" {
			t.Errorf("a chart without a name: %+v", c)
		}
	}
	says := titles(t, page)
	for _, want := range []string{
		"bandwidth[block_size=4KiB]: bandwidth 2.19 GB/s (96% CI 2.1–2.3, n=3), ✗ fail; launches: 2.199 GB/s, ",
		"bandwidth[block_size=1MiB]: latency.p99 ",
		"bandwidth[block_size=4KiB] launch 1, 1.25 s: ok\n",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("no point says %q:\n%s", want, says)
		}
	}
	first := all[0]
	if first.Kind != "lines" || len(first.X.Ticks) != 3 || first.Series[0].Points[0].Lower == nil ||
		*first.Series[0].Points[0].Upper != 2 {
		t.Errorf("the first chart is %+v", first)
	}
}

func TestPageShowsMatrices(t *testing.T) {
	doc := read(t, "traffic")
	page := parsePage(t, doc)
	section := page.id(t, "matrices")
	titles := titles(t, section)
	if want := "rank 0 → rank 1: 1MiB\n"; !strings.Contains(titles, want) {
		t.Errorf("the heat maps do not say %q:\n%s", want, titles)
	}
	found := false
	for _, row := range section.all("table")[0].rows() {
		if row[0] == "incast 3MiB target=0 of 4 ranks" {
			found = true
			want := []string{
				"4", "3", "1", "3", "9MiB", "3MiB", "0", "9MiB", `generated[generate="incast 3MiB target=0"]`,
			}
			if !slices.Equal(row[1:], want) {
				t.Errorf("row %q, want %q", row[1:], want)
			}
		}
	}
	if !found {
		t.Error("the generated incast is not in the table")
	}
}

// What ranks copy within their own memory stands on the diagonal of the heat map and in a
// column of its own, unless it was left out.
func TestPageShowsOwnCells(t *testing.T) {
	for option, shown := range map[string]bool{"copy": true, "ignore": false} {
		doc := read(t, "traffic")
		for _, c := range doc.Cases {
			if _, ok := c.Options["matrix"]; ok {
				c.Options["matrix"], c.Options["own_cells"] = "4: 0>1=1048576 3>3=5120", option
			}
		}
		section := parsePage(t, doc).id(t, "matrices")
		titles := titles(t, section)
		if strings.Contains(titles, "rank 3 to itself: 5KiB\n") != shown ||
			!strings.Contains(titles, "rank 0 → rank 1: 1MiB\n") {
			t.Errorf("own_cells %s: the heat maps say\n%s", option, titles)
		}
		if strings.Contains(section.text(),
			"On the diagonal is what ranks copy within their own memory, 5KiB in all.") != shown {
			t.Errorf("own_cells %s: %s", option, section.text())
		}
		if strings.Contains(section.text(), "copied within ranks") != shown {
			t.Errorf("own_cells %s: %s", option, section.text())
		}
		for _, row := range section.all("table")[0].rows() {
			written := strings.HasPrefix(row[0], "of run ")
			if written && row[5] != "1MiB" || shown && (row[len(row)-1] == "5KiB") != written {
				t.Errorf("own_cells %s: %q", option, row)
			}
		}
	}
}

// Whatever names and messages hold, it is text: the page has the elements that it has with
// harmless names.
func TestNoNameBreaksThePage(t *testing.T) {
	shape := func(doc *results.Document) string {
		var b strings.Builder
		for _, e := range parsePage(t, doc).all("") {
			b.WriteString(e.Data + " ")
		}
		return b.String()
	}
	want := shape(called("harmless"))
	for _, evil := range []string{
		`</script><img src=x onerror=alert(1)>`, `"><script>alert(1)</script>`, `' onfocus='alert(1)`,
		`</title></style></svg><b>`, `<!--`, `]]>`, `{{.}}`, "javascript:alert(1)", "&lt;b&gt;",
	} {
		if got := shape(called(evil)); got != want {
			t.Errorf("%q changes the page:\n%s\n%s", evil, got, want)
		}
		if page := parsePage(t, called(evil)); !strings.Contains(page.text(), strings.Join(strings.Fields(evil), " ")) {
			t.Errorf("%q is not in the page as text", evil)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(rt, "bytes"))
		// an escape sequence takes away what tells the cases apart
		if strings.TrimSpace(plain(text)) == "" || plain(text+"x") != plain(text)+"x" {
			return
		}
		if got := shape(called(text)); got != want {
			rt.Fatalf("%q changes the page", text)
		}
	})
}

// Whatever numbers a document holds, the page is made, and its drawings have places only.
func TestNoNumberBreaksThePage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := read(t, "failed")
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
			0, -1, 5e-324, math.MaxFloat64, -math.MaxFloat64, 1e-300,
		}))
		for _, c := range doc.Cases {
			for name, m := range c.Metrics.All() {
				m.Value, m.CI = value.Draw(rt, name), nil
				if rapid.Bool().Draw(rt, "interval") {
					m.CI = &[2]float64{value.Draw(rt, "low"), value.Draw(rt, "high")}
				}
				c.Metrics.Set(name, m)
			}
			for _, l := range c.Launches {
				l.Duration = value.Draw(rt, "duration")
				for _, name := range l.Metrics.Names() {
					l.Metrics.Set(name, value.Draw(rt, name))
				}
			}
		}
		charts(rt, parsePage(rt, doc)) // JSON has no other numbers than places
	})
}

// called is a session with one text everywhere.
func called(text string) *results.Document {
	bound := 3.
	start := time.Date(2026, 11, 21, 10, 15, 0, 0, time.UTC)
	doc := &results.Document{
		Scenario: results.Scenario{Name: text, Description: text, File: text, Variables: map[string]string{text: text}},
		Session: results.Session{
			ID: text, Status: results.Failed, ExitCode: 1, Argv: []string{text}, Started: start,
			Finished: start.Add(time.Minute),
		},

		Environment: results.Environment{
			Nodes: []results.Node{{Name: text, OS: text, Fabrics: map[string]results.Fabric{text: {Reason: text}}}},
		},
		Commands: []results.Command{
			{
				Name: text, Stage: "setup", Scope: "run", Of: text, Node: text, Started: start, Duration: 1,
				Status: results.OK,
			},
		},
	}
	for i, size := range []string{"4KiB", "1MiB"} {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: text + size, Run: text, Workload: "transfer", Axes: map[string]any{"block_size": size,
				text: text + strconv.Itoa(i)}, AxisOrder: []string{"block_size", text}, Status: results.OK,
			Launches: []*results.Launch{
				{
					Status: results.Error, Started: start, Duration: 1,
					Failure: &results.Failure{Cause: text, Log: []string{text}}, Nodes: []string{text},
				},
			},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": {Unit: "GB/s", N: 1, Value: 1, Median: 1}, text: {Unit: "GB/s", N: 1, Value: 1, Median: 1},
			}),
			Assertions: []*results.AssertionVerdict{{
				Assertion: assertion.Assertion{Name: text, Text: text, Lowered: text, File: text,
					Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &bound},
					Subject: &assertion.Expr{Op: assertion.Metric, Metric: text, Unit: "GB/s"}},
				Verdict: results.Fail, Message: text, Observed: &results.Observed{Value: 1, Unit: "GB/s", N: 1},
			}},
		})
	}
	doc.Summarize()
	return doc
}
