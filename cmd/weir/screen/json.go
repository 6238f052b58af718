package screen

import (
	"encoding/json"
	"io"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/printable"
)

func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(&printable.JSON{To: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return exit.With(gate.ExitExecution, enc.Encode(v))
}
