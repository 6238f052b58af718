package reporters

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// The dashboard for Grafana asks only for metrics and labels that the OpenMetrics report has.
func TestDashboardAsksForWhatThereIs(t *testing.T) {
	content, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	var queries, variables []string
	for _, v := range dashboard.Templating.List {
		variables = append(variables, v.Name)
		if v.Type == "query" {
			queries = append(queries, v.Definition)
		}
	}
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 || p.Title == "" || p.Type == "" {
			t.Errorf("panel %+v shows nothing", p)
		}
		for _, q := range p.Targets {
			queries = append(queries, q.Expr)
		}
	}
	there := map[string]bool{"__name__": true}
	for name, f := range scraped(t, read(t, "failed")) {
		there[name] = true
		for _, m := range f.Metric {
			for _, l := range m.Label {
				there[l.GetName()] = true
			}
		}
	}
	metric, label := regexp.MustCompile(`weir_[a-z_]+[a-z]\b`), regexp.MustCompile(`([a-z_]+)(=~|!=|=)"`)
	used := regexp.MustCompile(`\$([a-z]+)`)
	if len(queries) < 8 {
		t.Errorf("only %d queries: %q", len(queries), queries)
	}
	for _, q := range queries {
		names := metric.FindAllString(q, -1)
		for _, m := range label.FindAllStringSubmatch(q, -1) {
			names = append(names, m[1])
		}
		for _, name := range names {
			if !there[name] {
				t.Errorf("%s: the report has no %s", q, name)
			}
		}
		for _, m := range used.FindAllStringSubmatch(q, -1) {
			if !slices.Contains(variables, m[1]) {
				t.Errorf("%s: there is no variable %s", q, m[1])
			}
		}
	}
}
