package native

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// The check must be able to fail: one byte flipped in received data (WEIR_SELFTEST_CORRUPT) is found, and
// named by sender, receiver and offset, over every path; and a self-test that tests nothing is refused.
func TestWrongByte(t *testing.T) {
	const untimed, timed = " after an untimed pass: byte ", " after the timed part: byte "
	between := func(from, to int) string { return fmt.Sprintf("wrong data from rank %d to rank %d", from, to) }
	m, own := matrices(t)["uneven"], matrices(t)["own"] // rank 3 receives 3 MiB of rank 0, then 1000 bytes of rank 5
	unverified := func(o *move.Spec) { o.Verify = "none" }
	pair, pings, beyond := []move.Spec{options(8)}, []move.Spec{options(8, pingpong)},
		"of one of 2 ranks and 8 bytes that it receives"
	one := func(o move.Spec) []move.Spec { return []move.Spec{o} }
	for name, c := range map[string]struct {
		cases   []move.Spec
		corrupt string
		want    string
	}{
		"write": {one(options(4096, batch4)), "1:5000",
			between(0, 1) + untimed + "5000 of 16384 (block 1, offset 904 in it)"},
		"read":                  {one(options(4096, read)), "0:17", between(1, 0) + untimed + "17 of 4096"},
		"last byte":             {one(options(1<<20 + 3)), "1:1048578", "byte 1048578 of 1048579"},
		"initiator of pingpong": {one(options(64, pingpong)), "0:3", "wrong data from rank 1"},
		"timed write":           {one(options(4096, batch4)), "1:5000:timed", between(0, 1) + timed + "5000 of 16384"},
		"timed read":            {one(options(4096, read)), "0:17:timed", between(1, 0) + timed + "17 of 4096"},
		"short timed pingpong":  {one(options(48, pingpong)), "0:46:timed", between(1, 0) + timed + "46 of 47"},
		"timed pingpong": {one(options(100000, pingpong)), "1:99998:timed",
			between(0, 1) + timed + "99998 of 99999"},
		"full": {one(options(777, full)), "1:776", "byte 776 of 777"},

		"one_to_many": {one(options(4096, withPattern("one_to_many", 4))), "3:17",
			between(0, 3) + untimed + "17 of 4096"},
		"many_to_one": {one(options(4096, withPattern("many_to_one", 4))), "0:8197",
			between(3, 0) + untimed + "5 of 4096"},
		"ring": {one(options(4096, withPattern("ring", 4))), "0:9:timed", between(3, 0) + timed + "9 of 4096"},
		"all_to_all": {one(options(4096, withPattern("all_to_all", 4))), "2:4099:timed",
			between(1, 2) + timed + "3 of 4096"},
		"read of one_to_many": {one(options(4096, withPattern("one_to_many", 4), read)), "0:8192:timed",
			between(3, 0) + timed + "0 of 4096"},
		"read of all_to_all": {one(options(4096, withPattern("all_to_all", 4), read)), "2:1",
			between(3, 2) + untimed + "1 of 4096"},
		"bidirectional": {one(options(4096, withPattern("pairwise", 2), bidirectional)), "0:2:timed",
			between(1, 0) + timed + "2 of 4096"},
		"zeros": {one(options(4096, withPattern("pairwise", 2), zeroed)), "1:99:timed",
			between(0, 1) + timed + "99 of 4096 (block 0, offset 99 in it) is 0x01, should be 0x00"},
		"head of zeros": {one(options(4096, withPattern("pairwise", 2), zeroed, batch4)), "1:4097",
			"byte 4097 of 16384 (block 1, offset 1 in it)"},
		"places": {one(options(4096, withPattern("pairwise", 2), spread)), "1:5",
			"after an untimed pass at place 0: byte 5"},

		"first thread": {one(options(4096, threaded(3))), "1:17",
			"thread 0: " + between(0, 1) + untimed + "17 of 4096"},
		"third thread": {one(options(4096, threaded(3))), "1:8203",
			"thread 2: " + between(0, 1) + untimed + "11 of 4096"},
		"timed thread": {one(options(4096, threaded(3))), "1:4097:timed",
			"thread 1: " + between(0, 1) + timed + "1 of 4096"},
		"beyond threads": {one(options(4096, threaded(3))), "1:12288",
			"of one of 2 ranks and 12288 bytes that it receives"},

		"first cell": {one(trafficOf(m)), "3:3145727", between(0, 3) + untimed + "3145727 of 3145728 of their cell"},
		"second cell": {one(trafficOf(m, sharded(3))), "3:3145728:timed",
			between(5, 3) + timed + "0 of 1000 of their cell"},
		"last of cell": {one(trafficOf(m)), "3:3146727:timed", between(5, 3) + timed + "999 of 1000"},
		"cell of two":  {one(trafficOf(m)), "0:1", between(5, 0) + untimed + "1 of 2 of their cell"},
		"read cell": {one(trafficOf(m, read)), "1:65536:timed",
			between(2, 1) + timed + "65536 of 65537 of their cell"},
		"own cell": {one(trafficOf(own)), "0:3145728:timed",
			between(0, 0) + timed + "3145728 of 3145729 of its own cell"},
		"untimed own": {one(trafficOf(own)), "3:70000",
			between(3, 3) + untimed + "70000 of 70001 of its own cell"},
		"behind another":   {one(trafficOf(own, read)), "2:1:timed", between(2, 2) + timed + "0 of 1 of its own cell"},
		"read, next rank":  {one(trafficOf(m, read, sharded(7))), "1:65537", between(0, 1) + untimed + "0 of 1"},
		"beyond cells":     {one(trafficOf(m)), "3:3146728", "that it receives"},
		"no cell":          {one(trafficOf(m)), "5:0", "that it receives"},
		"beyond read":      {one(trafficOf(m, read)), "0:2", "that it receives"},
		"nothing to read":  {one(trafficOf(m, read)), "4:0", "that it receives"},
		"write and read":   {[]move.Spec{trafficOf(m), trafficOf(m, read)}, "3:1", "different bytes"},
		"no place":         {pair, "x", "not rank:offset or rank:offset:timed of one of 2 ranks"},
		"no offset":        {pair, "1", "not rank:offset"},
		"no such rank":     {pair, "2:0", "not rank:offset"},
		"rank before":      {pair, "-1:0", "not rank:offset"},
		"offset before":    {pair, "1:-1", "not rank:offset"},
		"beyond":           {pair, "1:8", beyond},
		"beyond a ping":    {pings, "1:8", beyond},
		"receives nothing": {pair, "0:0", "of one of 2 ranks and 0 bytes that it receives"},
		"number of a ping": {pings, "0:7:timed", "the last byte of a message may be its number"},
		"of a later thread": {one(options(8, pingpong, threaded(2))), "0:15:timed",
			"the last byte of a message may be its number"},
		"not verified": {[]move.Spec{options(8), options(8, unverified)}, "1:0", "case b verifies nothing"},
		"smaller case": {[]move.Spec{options(8), options(16)}, "1:10", "different bytes in cases a and b"},
		"larger case": {[]move.Spec{options(16), options(16, batch4)}, "1:0",
			"different bytes in cases a and b"},
		"other receiver":     {[]move.Spec{options(8), options(8, read)}, "1:0", "different bytes in cases a and b"},
		"before a ping ends": {pings, "1:6:timed", between(0, 1) + timed + "6 of 7"},
		"untimed ping":       {pings, "1:7", between(0, 1) + untimed + "7 of 8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(CorruptEnv, c.corrupt)
			_, err := tryCases(t, "shm", int(c.cases[0].Ranks), c.cases...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			var e *engine.Error
			if strings.Contains(c.want, "byte ") && (!errors.As(err, &e) || e.Phase != "verify") &&
				!strings.Contains(c.want, "the last byte") {
				t.Errorf("phase of %+v is not verify", e)
			}
		})
	}
}

// A wrong byte is found, with its pattern, whether the pattern ran alone or in the sequence.
func TestWrongByteOfASequence(t *testing.T) {
	phase.Long(t)
	// rank 0 receives 3 bytes, then 2 MiB, both of rank 1; rank 4 in the last pattern only
	for corrupt, want := range map[string]string{
		"0:2":             "wrong data from rank 1 to rank 0 after an untimed pass: byte 2 of 3 of their cell",
		"0:3:timed":       "wrong data from rank 1 to rank 0 after the timed part: byte 0 of 2097152 of their cell",
		"4:4224:timed":    "byte 4095 of 4096",
		"3:1048580:timed": "wrong data from rank 3 to rank 3 after the timed part: byte 4 of 5 of its own cell",
		"2:300000":        "wrong data from rank 2 to rank 2 after an untimed pass: byte 300000 of 300001 of its own cell",
		"0:2097155:timed": "receives 2097155 bytes in the sequence",
		"0:0":             "verifies nothing",
	} {
		t.Setenv(CorruptEnv, corrupt)
		_, err := tryCases(t, "shm", 5, patternCases(sequenceOf(t), func(o *move.Spec) {
			if corrupt == "0:0" {
				o.Verify = "none"
			}
		})...)
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(want, "byte ") && !strings.Contains(err.Error(), ", in pattern ") {
			t.Errorf("%s: got %v, want %q, and the pattern", corrupt, err, want)
		}
	}
}
