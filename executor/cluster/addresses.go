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

// encode writes the text as it is, behind all else: JSON would take a third more, and
// many times as long to read.
func (b addressBook) encode() ([]byte, error) {
	text := b.Text.Inline
	b.Text.Inline = nil
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	return slices.Concat(binary.AppendUvarint(nil, uint64(len(head))), head, text), nil
}

func readAddressBook(value []byte) (b addressBook, err error) {
	n, used := binary.Uvarint(value)
	if used <= 0 || n > uint64(len(value)-used) {
		return b, errAddresses
	}
	head, text := value[used:used+int(n)], value[used+int(n):]
	if err = json.Unmarshal(head, &b); err == nil {
		if len(text) > 0 {
			b.Text.Inline = text
		}
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
		text = appendAddress(text, rank, addresses[rank])
	}
	return text
}

func appendAddress(text []byte, rank int, address []byte) []byte {
	text = binary.AppendUvarint(text, uint64(rank))
	text = binary.AppendUvarint(text, uint64(len(address)))
	return append(text, address...)
}

var errAddresses = errors.New("reading addresses: they make no sense")

// decodeAddresses reads addresses into their ranks' places in a list, where nobody's may
// be yet, and says how many they are. One that has no bytes is not nil.
func decodeAddresses(text []byte, all [][]byte) (known int, err error) {
	for len(text) > 0 {
		rank, n := binary.Uvarint(text)
		if n <= 0 || rank >= uint64(len(all)) {
			return known, errAddresses
		}
		text = text[n:]
		size, n := binary.Uvarint(text)
		if n <= 0 || size > uint64(len(text)-n) {
			return known, errAddresses
		}
		if all[rank] != nil {
			return known, errAddresses
		}
		all[rank] = text[n : n+int(size) : n+int(size)]
		text = text[n+int(size):]
		known++
	}
	return known, nil
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
