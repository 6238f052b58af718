package engine

import (
	"time"

	"weir/results"
)

// Played is a launch that a simulated engine went through instead of ranks. Its
// times are on the session's virtual clock, on which launches follow each other.
type Played struct {
	Began     time.Duration
	Connected time.Duration // all ranks are: the first case begins
	Ended     time.Duration
	Cases     []PlayedCase     // those that all ranks came through, in order
	Failure   *results.Failure // nil: all cases and the end went well
}

// PlayedCase is one case of a played launch.
type PlayedCase struct {
	From, To time.Duration
	Ranks    []*CaseResult // by rank
}
