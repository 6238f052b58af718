package reports

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// Margin is the default of weir compare: the change for the worse that is no regression, a share of the base.
const Margin = 0.03

// PageVariable is the variable with the address of the page that a comment links to.
const PageVariable = "WEIR_PAGE_URL"

// Reader reads a stored document, with notes on it.
type Reader func(file string, notes io.Writer) (*results.Document, error)

// Compare gives comments among the reports what changed against a document: that of a file, or without one the
// baseline of the session if it is still there.
func Compare(rs []Report, doc *results.Document, file string, read Reader, notes io.Writer) error {
	if !slices.ContainsFunc(rs, func(r Report) bool { return r.Name == "comment" }) {
		return nil
	}
	against, err := againstFile(doc, file, read, notes)
	if err != nil {
		return err
	}
	for i := range rs {
		rs[i].Reporter = rs[i].Compared(against, os.Getenv(PageVariable))
	}
	return nil
}

func againstFile(doc *results.Document, file string, read Reader, notes io.Writer) (reporters.Against, error) {
	lacking := func(why string) (reporters.Against, error) { return reporters.Against{Lacking: why}, nil }
	var base *results.Document
	if b := doc.Baseline; file != "" {
		var err error
		if base, err = read(file, notes); err != nil {
			return reporters.Against{}, err
		}
	} else if b != nil && b.File != "" {
		file = b.File
		there, err := read(file, io.Discard)
		if err != nil || there.Session.ID != b.Session {
			return lacking("The baseline " + file + " is not there any more, so nothing is compared.")
		}
		base = there
	}
	if base == nil || base.Session.ID == doc.Session.ID {
		return lacking("There is no baseline, so nothing is compared.")
	}
	c, err := gate.Compare(base, doc, gate.CompareOptions{Margin: Margin})
	if errors.Is(err, gate.ErrNothingCompared) {
		return lacking("The baseline " + file + " has no case and metric of this session.")
	}
	if err != nil {
		return lacking("The baseline " + file + " cannot be compared: " + err.Error())
	}
	c.Base.File, c.New.File = file, doc.Scenario.File
	return reporters.Against{Comparison: c}, nil
}
