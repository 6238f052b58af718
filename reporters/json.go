package reporters

import (
	"io"

	"github.com/weir-bench/weir/results"
)

// JSON writes the document itself.
func JSON(w io.Writer, doc *results.Document) error { return doc.EncodeTo(w) }
