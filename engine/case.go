package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/weir-bench/weir/workload"
)

// NewCase encodes a case for its ranks. large is the encoded large part of the spec, if another case shares it; nil: it
// is encoded here.
func NewCase(key string, spec workload.Spec, timeout time.Duration, large json.RawMessage) (Case, error) {
	c := Case{Key: key, Timeout: int64(timeout), Large: large}
	var err error
	if c.Spec, err = json.Marshal(spec); err != nil {
		return c, fmt.Errorf("case %s: encoding its options: %w", key, err)
	}
	if l, ok := spec.(workload.Large); ok && large == nil {
		if c.Large, err = l.Large(); err != nil {
			return c, fmt.Errorf("case %s: encoding its options: %w", key, err)
		}
	}
	return c, nil
}
