package reporters

import (
	"fmt"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// varianceLevels are the levels of variance components, from the inside.
var varianceLevels = []string{"pieces", "launches", "hosts", "sessions"}

// varianceTable lists by how much metrics vary at each level; nil if only launches are known.
func varianceTable(doc *results.Document) *html.Table {
	var all []varying
	known := map[string]bool{}
	for _, c := range doc.Cases {
		for _, v := range variancesOf(c) {
			all = append(all, v)
			for _, l := range v.levels {
				known[l.Of] = true
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	t := &html.Table{Caption: plural(len(all), "metric") + " with what they vary by", Folded: len(all) > openAssertions,
		Columns: []html.Column{{Head: "case"}, {Head: "metric"}}}
	var levels []string
	for _, of := range varianceLevels {
		if known[of] {
			levels = append(levels, of)
			t.Columns = append(t.Columns, html.Column{Head: "between\n" + levelsOf[of], Right: true})
		}
	}
	if more := len(all) - inRows; more > 0 {
		all = all[:inRows]
		t.Caption += fmt.Sprintf(", without %d that results.json has", more)
	}
	for _, v := range all {
		of := map[string]string{}
		for _, l := range v.levels {
			of[l.Of] = cvText(l.CV)
		}
		cells := []string{plain(v.key), plain(v.metric)}
		for _, level := range levels {
			cells = append(cells, sentence("", of[level], dash(of[level])))
		}
		t.Rows = append(t.Rows, html.Row{Cells: cells})
	}
	return t
}
