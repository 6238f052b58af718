package reporters

import (
	"io"

	"weir/results"
)

// JSON writes the document itself.
func JSON(w io.Writer, doc *results.Document) error {
	b, err := doc.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
