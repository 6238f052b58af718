package prompt

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"weir/serving"
	"weir/serving/schedule"
)

// idsOfNonce are how many token ids a nonce has.
const idsOfNonce = 4

// nonceText appends 16 hexadecimal digits that no other text of the set begins with.
func (s *Set) nonceText(b []byte, origin uint64, phase serving.Phase, n int) []byte {
	v := scatter(s.nonce(origin, phase, n))
	return hex.AppendEncode(b, []byte{
		byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v),
	})
}

// text makes the JSON of a text of so many tokens. The first turn of a conversation begins with
// a nonce, or with the text of its group and then a nonce.
func (s *Set) text(phase serving.Phase, index, tokens int) []byte {
	b := []byte{'"'}
	rng, session := s.random(forTexts, phase, uint64(index)), index/s.Turns
	switch {
	case index%s.Turns > 0:
		b = appendWords(b, rng, s.Calibration.words(tokens))
	case s.Prefix.Groups > 0:
		group := session % s.Prefix.Groups
		b = s.nonceText(b, ofGroup, phase, group)
		b = appendWords(append(b, ' '), s.random(forGroups, phase, uint64(group)), s.Calibration.words(s.Prefix.Tokens))
		b = s.nonceText(append(b, ' '), ofRequest, phase, session)
		b = appendWords(append(b, ' '), rng, s.Calibration.words(tokens-s.Prefix.Tokens))
	case s.Prefix.None:
		b = appendWords(b, rng, s.Calibration.words(tokens))
	default:
		b = s.nonceText(b, ofRequest, phase, session)
		b = appendWords(append(b, ' '), rng, s.Calibration.words(tokens))
	}
	return append(b, '"')
}

// line makes the JSON of a line of the file, with a nonce before it unless there is to be none.
func (s *Set) line(phase serving.Phase, index int) []byte {
	line := s.Lines[s.order[index%len(s.order)]]
	if index%s.Turns > 0 || s.Prefix.None {
		return quote(nil, line)
	}
	return quote(nil, string(s.nonceText(nil, ofRequest, phase, index/s.Turns))+" "+line)
}

// ids makes the JSON of an array of exactly so many token ids.
func (s *Set) ids(phase serving.Phase, index, tokens int) []byte {
	rng := s.random(forTexts, phase, uint64(index))
	list := make([]int, 0, tokens)
	if s.Prefix.Groups > 0 {
		group := index % s.Prefix.Groups
		list = s.nonceIDs(list, ofGroup, phase, group, s.Prefix.Tokens)
		list = s.fill(list, s.random(forGroups, phase, uint64(group)), s.Prefix.Tokens)
	}
	if !s.Prefix.None {
		list = s.nonceIDs(list, ofRequest, phase, index, tokens-len(list))
	}
	return idsJSON(s.fill(list, rng, tokens))
}

// nonceIDs appends a nonce of token ids, which are its digits with the lowest first, but not
// more than there is room for. Up to as many nonces as digits can tell apart are different.
func (s *Set) nonceIDs(list []int, origin uint64, phase serving.Phase, n, room int) []int {
	first, base := s.Vocabulary[0], uint64(s.Vocabulary[1]-s.Vocabulary[0]+1)
	v := s.nonce(origin, phase, n)
	for range min(room, idsOfNonce) {
		list, v = append(list, first+int(v%base)), v/base
	}
	return list
}

// fill appends token ids until there are so many.
func (s *Set) fill(list []int, rng *rand.Rand, tokens int) []int {
	for len(list) < tokens {
		list = append(list, s.Vocabulary[0]+rng.IntN(s.Vocabulary[1]-s.Vocabulary[0]+1))
	}
	return list
}

func idsJSON(list []int) []byte {
	b := make([]byte, 0, 7*len(list)+2)
	b = append(b, '[')
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}

// traced makes the JSON of a prompt whose blocks are those of a row of a trace. A block is made
// whole and cut where it is used: an id that first stands for a short last block stands for a
// whole one later.
func (s *Set) traced(phase serving.Phase, row schedule.Row) []byte {
	var list []int
	text := []byte{'"'}
	for i, id := range row.Blocks {
		tokens := min(schedule.BlockTokens, row.Input-i*schedule.BlockTokens)
		rng := s.random(forBlocks, phase, s.Salt^uint64(id))
		if s.IDs {
			list = append(list, s.fill(nil, rng, schedule.BlockTokens)[:tokens]...)
			continue
		}
		if i > 0 {
			text = append(text, ' ')
		}
		text = appendWords(text, rng, s.Calibration.plain(float64(tokens)))
	}
	if s.IDs {
		return idsJSON(list)
	}
	return append(text, '"')
}

// Limits of a file of prompts.
const (
	mostLines = 1 << 20
	mostLine  = 1 << 24 // bytes
)

// ReadLines reads a file of prompts, one in each line that is not empty.
func ReadLines(content []byte) ([]string, error) {
	in := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(content, []byte("\uFEFF"))))
	in.Buffer(make([]byte, 1<<16), mostLine)
	list := []string{}
	number := 1
	for ; in.Scan(); number++ {
		line := strings.TrimSpace(strings.ToValidUTF8(in.Text(), "\uFFFD"))
		if line == "" {
			continue
		}
		if len(list) == mostLines {
			return nil, fmt.Errorf("line %d: there are more than %d prompts", number, mostLines)
		}
		list = append(list, line)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there are no prompts in the file")
	}
	return list, nil
}
