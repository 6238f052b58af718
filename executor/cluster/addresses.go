package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// told by a node of its ranks, or to all of all ranks.
type addressBook struct {
	Ranks []int `json:"ranks,omitempty"` // of a node: those in the text
	Text  Text  `json:"text"`
}

func (b addressBook) encode() ([]byte, error) { return json.Marshal(b) }

func readAddressBook(value []byte) (b addressBook, err error) {
	if err = json.Unmarshal(value, &b); err == nil {
		err = b.Text.check()
	}
	if err != nil {
		return b, fmt.Errorf("reading addresses: %w", err)
	}
	return b, nil
}

// encodeAddresses writes rank, length and address of each, in the order of ranks.
func encodeAddresses(addresses map[int][]byte) []byte {
	var text []byte
	for _, rank := range slices.Sorted(maps.Keys(addresses)) {
		text = binary.AppendUvarint(text, uint64(rank))
		text = binary.AppendUvarint(text, uint64(len(addresses[rank])))
		text = append(text, addresses[rank]...)
	}
	return text
}

var errAddresses = errors.New("reading addresses: they make no sense")

// decodeAddresses reads the addresses of ranks below a number, each at most once.
func decodeAddresses(text []byte, ranks int) (map[int][]byte, error) {
	all := map[int][]byte{}
	for len(text) > 0 {
		rank, n := binary.Uvarint(text)
		if n <= 0 || rank >= uint64(ranks) {
			return nil, errAddresses
		}
		text = text[n:]
		size, n := binary.Uvarint(text)
		if n <= 0 || size > uint64(len(text)-n) {
			return nil, errAddresses
		}
		if _, twice := all[int(rank)]; twice {
			return nil, errAddresses
		}
		all[int(rank)] = text[n : n+int(size) : n+int(size)]
		text = text[n+int(size):]
	}
	return all, nil
}

// MissingError says which ranks a launch waits for.
type MissingError struct {
	What  string
	Ranks []int
}

func (e *MissingError) Error() string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "%s: waiting for rank", e.What)
	if len(e.Ranks) > 1 {
		b.WriteString("s")
	}
	for i, r := range e.Ranks {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(e.Ranks)-most)
			break
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
}

// What a launch waits for, one after the other.
const (
	theAddresses   = "addresses"
	theConnections = "connections"
)

// missingOf says what a launch of so many ranks waits for, nil if for nothing.
func missingOf(ranks int, addressed, connected func(rank int) bool) *MissingError {
	for _, stage := range []struct {
		what string
		has  func(rank int) bool
	}{{theAddresses, addressed}, {theConnections, connected}} {
		var missing []int
		for rank := range ranks {
			if !stage.has(rank) {
				missing = append(missing, rank)
			}
		}
		if missing != nil {
			return &MissingError{What: stage.what, Ranks: missing}
		}
	}
	return nil
}
