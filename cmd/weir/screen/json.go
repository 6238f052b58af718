package screen

import (
	"encoding/json"
	"io"

	"github.com/weir-bench/weir/internal/printable"
)

// JSON writes a value as indented JSON.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(&printable.JSON{To: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
