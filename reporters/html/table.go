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
	// Verdict is a column that has its row's colour. In a table of numbers it stays at the right edge while
	// the others scroll.
	Verdict bool
}

// Row is one row: its cells, and a standing for its colour.
type Row struct {
	ID    string // stable, for links to the row; ""
	Class string // bad | doubt | good | ""
	// Marks are standings of single cells by their columns, as Class; nil: none.
	Marks map[int]string
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
	Form    *Form // its checkboxes are the first column; nil: it has none
	// Folded tables open on demand, so that the page does not wait for the layout of ten thousand rows.
	Folded bool
}

// mostOnPaper is how many columns fit on a sheet of paper in type of usual size.
const mostOnPaper = 11

// Class names the numeric columns: style rules by position align them without attributes in rows.
func (t *Table) Class() string {
	names := []string{"data"}
	if t.Text {
		names = append(names, "text")
	}
	if len(t.Columns) > mostOnPaper {
		names = append(names, "many")
	}
	if len(t.Columns) > 2*mostOnPaper {
		names = append(names, "lots")
	}
	first := 1
	if t.Form != nil {
		first++
	}
	for i, c := range t.Columns {
		if c.Right {
			names = append(names, "r"+strconv.Itoa(i+first))
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
		if row.ID != "" {
			b.WriteString(` id="` + template.HTMLEscapeString(row.ID) + `"`)
		}
		if known(row.Class) {
			b.WriteString(" class=" + row.Class)
		}
		b.WriteString(">")
		if t.Form != nil {
			b.WriteString("<td>" + t.checkbox(row))
		}
		for i, cell := range row.Cells {
			switch {
			case i < len(t.Columns) && t.Columns[i].Verdict:
				b.WriteString("<td class=v>")
			case known(row.Marks[i]):
				b.WriteString("<td class=" + row.Marks[i] + ">")
			default:
				b.WriteString("<td>")
			}
			linked := i == 0 && row.Href != ""
			if linked {
				b.WriteString(`<a href="` + template.HTMLEscapeString(row.Href) + `">`)
			}
			template.HTMLEscape(&b, []byte(cell))
			if linked {
				b.WriteString("</a>")
			}
		}
		b.WriteString("\n")
	}
	return template.HTML(b.String())
}

// known reports whether the style sheet has colours for a standing.
func known(standing string) bool { return slices.Contains([]string{"bad", "doubt", "good"}, standing) }

// checkbox picks a row for the table's form; "": the row cannot be picked.
func (t *Table) checkbox(row Row) string {
	if row.Pick == "" {
		return ""
	}
	pick := template.HTMLEscapeString(row.Pick)
	return `<input type=checkbox name="` + t.Form.Name + `" value="` + pick + `" aria-label="` + pick + `">`
}
