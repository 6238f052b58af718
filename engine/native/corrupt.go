package native

/*
#include "weir.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readCorrupt parses where to flip a byte. It refuses offsets that no case checks: such a test would look
// like a check that finds nothing.
func (r *rank) readCorrupt(text string) error {
	if text == "" {
		return nil
	}
	n, at, timed, err := parseCorrupt(text, r.launch.Ranks)
	if err != nil {
		return err
	}
	if r.options.Step != nil {
		return r.corruptSequence(text, n, at, timed)
	}
	first := r.launch.Cases[0].Options
	each := receives(first, n)
	received := each * uint64(r.launch.Threads())
	for _, c := range r.launch.Cases {
		switch o := c.Options; {
		case o.Verify == "none":
			return fmt.Errorf("%s is %q, but case %s verifies nothing", CorruptEnv, text, c.Key)
		case requestBytes(o) != requestBytes(first) || receives(o, n) != each || o.Matrix != nil && o.Op != first.Op:
			return fmt.Errorf("%s is %q, but offsets mean different bytes in cases %s and %s: they need launches of their own",
				CorruptEnv, text, r.launch.Cases[0].Key, c.Key)
		case timed && o.Mode == "pingpong" && each > 0 && uint64(at)%each == each-1:
			return fmt.Errorf("%s is %q, but the last byte of a message may be its number and is not checked after the timed part",
				CorruptEnv, text)
		}
	}
	if uint64(at) >= received {
		return fmt.Errorf("%s is %q, not rank:offset or rank:offset:timed of one of %d ranks and %d bytes that it receives",
			CorruptEnv, text, r.launch.Ranks, received)
	}
	if n == r.self.Rank {
		r.corrupt, r.corruptThread, r.timed = at%int64(each), int(at/int64(each)), cBool(timed)
	}
	return nil
}

// corruptOf returns where this rank of a workload without threads flips a received byte; -1: nowhere.
func corruptOf(ranks, self int, received func(rank int) int64) (at int64, timed C.int, err error) {
	text := os.Getenv(CorruptEnv)
	if text == "" {
		return -1, 0, nil
	}
	rank, at, inTimed, err := parseCorrupt(text, ranks)
	if err != nil {
		return -1, 0, err
	}
	if most := received(rank); at >= most {
		return -1, 0, fmt.Errorf("%s is %q, but rank %d receives %d bytes", CorruptEnv, text, rank, most)
	}
	if rank != self {
		return -1, 0, nil
	}
	return at, cBool(inTimed), nil
}

// parseCorrupt parses rank:offset or rank:offset:timed.
func parseCorrupt(text string, ranks int) (rank int, at int64, timed bool, err error) {
	place, timed := strings.CutSuffix(text, ":timed")
	rankText, offsetText, ok := strings.Cut(place, ":")
	rank, err1 := strconv.Atoi(rankText)
	at, err2 := strconv.ParseInt(offsetText, 10, 64)
	if !ok || err1 != nil || err2 != nil || rank < 0 || rank >= ranks || at < 0 {
		return 0, 0, false, fmt.Errorf("%s is %q, not rank:offset or rank:offset:timed of one of %d ranks", CorruptEnv,
			text, ranks)
	}
	return rank, at, timed, nil
}

// corruptSequence flips a received byte of a sequence, or of its patterns alone: the offset is counted over
// the patterns, in their order.
func (r *rank) corruptSequence(text string, rank int, at int64, timed bool) error {
	received := uint64(0)
	for _, c := range r.launch.Cases {
		if c.Options.Verify == "none" {
			return fmt.Errorf("%s is %q, but case %s verifies nothing", CorruptEnv, text, c.Key)
		}
		received += receives(c.Options, rank)
	}
	if uint64(at) >= received {
		return fmt.Errorf("%s is %q, but rank %d receives %d bytes in the sequence", CorruptEnv, text, rank, received)
	}
	if rank == r.self.Rank {
		r.corrupt, r.timed = at, cBool(timed)
	}
	return nil
}
