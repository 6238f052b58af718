package reports

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
// baseline of the session if it is still there. dir is the directory of the session.
func Compare(rs []Report, doc *results.Document, dir, file string, read Reader, notes io.Writer) error {
	if !slices.ContainsFunc(rs, func(r Report) bool { return r.Name == "comment" }) {
		return nil
	}
	against, err := againstFile(doc, dir, file, read, notes)
	if err != nil {
		return err
	}
	for i := range rs {
		rs[i].Reporter = rs[i].Compared(against, os.Getenv(PageVariable))
	}
	return nil
}

// ownBaseline reads the baseline of a session. Its path is relative to where the session ran: here, or a folder above
// the directory of the session. nil: the file is gone, or of another session.
func ownBaseline(b *results.Baseline, dir string, read Reader) *results.Document {
	files := []string{b.File}
	if at, err := filepath.Abs(dir); err == nil && !filepath.IsAbs(b.File) {
		for ; at != filepath.Dir(at); at = filepath.Dir(at) {
			files = append(files, filepath.Join(at, b.File))
		}
	}
	for _, file := range files {
		if doc, err := read(file, io.Discard); err == nil && doc.Session.ID == b.Session {
			return doc
		}
	}
	return nil
}

func againstFile(doc *results.Document, dir, file string, read Reader, notes io.Writer) (reporters.Against, error) {
	lacking := func(why string) (reporters.Against, error) { return reporters.Against{Lacking: why}, nil }
	var base *results.Document
	if b := doc.Baseline; file != "" {
		var err error
		if base, err = read(file, notes); err != nil {
			return reporters.Against{}, err
		}
	} else if b != nil && b.File != "" {
		file = b.File
		if base = ownBaseline(b, dir, read); base == nil {
			return lacking("The baseline " + file + " was not found here or from a folder above the results, so nothing is compared.")
		}
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
