package reporters

import (
	"fmt"
	"io"

	"github.com/weir-bench/weir/results"
)

// toy writes how many cases a document has.
func toy(w io.Writer, doc *results.Document) error {
	_, err := fmt.Fprintf(w, "%d cases of %s\n", len(doc.Cases), doc.Scenario.Name)
	return err
}
