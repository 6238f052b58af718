package screen

import (
	"encoding/json"
	"io"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
)

func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(&printable.JSON{To: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return exit.With(gate.ExitExecution, enc.Encode(v))
}
