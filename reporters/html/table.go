package html

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Head   string
	Metric Link // of the metric, if it is defined
	Right  bool // right-aligned numbers
}

// Row is one row: its cells, and a standing for its colour.
type Row struct {
	Class string // bad | doubt | good | ""
	Cells []string
	Href  string // of the first cell's link; "": none
	Pick  string // value of the row's checkbox in a table with a Form; "": it has none
}

// Form submits the values of the checked rows, as the query of Action.
type Form struct{ Action, Name, Button string }

// Table is a sortable and filterable table.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	Text    bool  // cells are sentences, which may wrap
	Form    *Form // its checkboxes are the last column; nil: it has none
	// Folded tables open on demand, so that the page does not wait for the layout of ten thousand rows.
	Folded bool
}

// Class names the numeric columns: style rules by position align them without attributes in rows.
func (t *Table) Class() string {
	names := []string{"data"}
	if t.Text {
		names = append(names, "text")
	}
	for i, c := range t.Columns {
		if c.Right {
			names = append(names, "r"+strconv.Itoa(i+1))
		}
	}
	return strings.Join(names, " ")
}

// Body renders the rows, without end tags, as HTML allows. It does not use the template because a large
// session has a hundred thousand cells; escaping is that of package html/template for text.
func (t *Table) Body() template.HTML {
	var b strings.Builder
	for _, row := range t.Rows {
		b.WriteString("<tr")
		if slices.Contains([]string{"bad", "doubt", "good"}, row.Class) {
			b.WriteString(" class=" + row.Class)
		}
		b.WriteString(">")
		for i, cell := range row.Cells {
			b.WriteString("<td>")
			linked := i == 0 && row.Href != ""
			if linked {
				b.WriteString(`<a href="` + template.HTMLEscapeString(row.Href) + `">`)
			}
			template.HTMLEscape(&b, []byte(cell))
			if linked {
				b.WriteString("</a>")
			}
		}
		if t.Form != nil {
			b.WriteString("<td>")
		}
		if t.Form != nil && row.Pick != "" {
			pick := template.HTMLEscapeString(row.Pick)
			b.WriteString(`<input type=checkbox name="` + t.Form.Name + `" value="` + pick +
				`" aria-label="` + pick + `">`)
		}
		b.WriteString("\n")
	}
	return template.HTML(b.String())
}
