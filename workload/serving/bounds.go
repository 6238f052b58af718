package serving

import (
	"fmt"
	"strconv"

	"weir/quantity"
	"weir/serving/stream"
	"weir/workload"
)

// MaxAnswer bounds an answer.
type MaxAnswer struct {
	Bytes  quantity.Size
	Events int
}

var maxAnswerKeys = []string{"bytes", "events"}

func readMaxAnswer(text string) (most MaxAnswer, k keys, err error) {
	most = MaxAnswer{stream.MostBytes, stream.MostEvents}
	if k, err = flat(text, maxAnswerKeys...); err != nil {
		return most, nil, err
	}
	if k["bytes"] != "" {
		if most.Bytes, err = quantity.ParseSize(k["bytes"]); err == nil && (most.Bytes < 1 || most.Bytes > 1<<40) {
			err = fmt.Errorf("%q is no size from 1 B to 1 TiB", k["bytes"])
		}
		if err != nil {
			return most, nil, workload.Wrong([]string{"bytes"}, "%w", err)
		}
		k["bytes"] = most.Bytes.String()
	}
	if k["events"] != "" {
		if most.Events, err = k.count("events", 1); err != nil {
			return most, nil, err
		}
		k["events"] = strconv.Itoa(most.Events)
	}
	if most.Bytes == stream.MostBytes {
		delete(k, "bytes")
	}
	if most.Events == stream.MostEvents {
		delete(k, "events")
	}
	return most, k, nil
}

func canonicalMaxAnswer(text string) (string, error) {
	_, k, err := readMaxAnswer(text)
	return k.write(maxAnswerKeys...), err
}

// Bounds are those of an answer.
func (s *Spec) Bounds() (MaxAnswer, error) {
	most, _, err := readMaxAnswer(s.MaxAnswer)
	return most, err
}
