package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"weir/workload"
)

// NewCase is a case as its ranks are told it. large is the specification's large part, where
// another case has the same; nil: it is encoded.
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
