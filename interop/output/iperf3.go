package output

import (
	"bytes"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// iperf3Event matches a line of --json-stream.
var iperf3Event = lazyregexp.New(`^\{\s*"event":\s*"(\w+)",\s*"data":\s*(.*)\}\s*$`)

// iperf3Stream makes a document of the events of --json-stream, each on its line; other outputs stay. The
// document of --json-stream-full-output after them says the same and is left out.
func iperf3Stream(output []byte) ([]byte, error) {
	lines := bytes.Split(output, []byte("\n"))
	events := false
	for i, line := range lines {
		m := iperf3Event().FindSubmatch(line)
		switch name := ""; {
		case m == nil && !events && len(bytes.TrimSpace(line)) > 0:
			return output, nil
		case m == nil:
			lines[i] = nil
		default:
			if name = string(m[1]); name != "start" && name != "end" && name != "error" {
				lines[i] = nil
				continue
			}
			before := ","
			if !events {
				before, events = "{", true
			}
			lines[i] = append([]byte(before+`"`+name+`":`), m[2]...)
		}
	}
	if events {
		lines[len(lines)-1] = append(lines[len(lines)-1], '}')
	}
	return bytes.Join(lines, []byte("\n")), nil
}
