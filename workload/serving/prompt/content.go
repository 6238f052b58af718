package prompt

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// idsOfNonce is the number of token ids of a nonce.
const idsOfNonce = 4

// nonceText appends 16 hexadecimal digits, a unique prefix in the set.
func (s *Set) nonceText(b []byte, origin uint64, phase load.Phase, n int) []byte {
	v := scatter(s.nonce(origin, phase, n))
	return hex.AppendEncode(b, []byte{
		byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v),
	})
}

// text makes the JSON of a text with this many tokens. The first turn of a conversation begins with a nonce, or with
// the text of its group and then a nonce.
func (s *Set) text(phase load.Phase, index, tokens int) []byte {
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

// line makes the JSON of a line of the file, with a nonce before it unless the prefix is none.
func (s *Set) line(phase load.Phase, index int) []byte {
	line := s.Lines[s.order[index%len(s.order)]]
	if index%s.Turns > 0 || s.Prefix.None {
		return encode(nil, line)
	}
	return encode(nil, string(s.nonceText(nil, ofRequest, phase, index/s.Turns))+" "+line)
}

// ids makes the JSON of an array with exactly this many token ids.
func (s *Set) ids(phase load.Phase, index, tokens int) []byte {
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

// nonceIDs appends a nonce of token ids, its digits with the lowest first, as far as there is room. Nonces are unique
// up to the number that the digits can represent.
func (s *Set) nonceIDs(list []int, origin uint64, phase load.Phase, n, room int) []int {
	first, base := s.Vocabulary[0], uint64(s.Vocabulary[1]-s.Vocabulary[0]+1)
	v := s.nonce(origin, phase, n)
	for range min(room, idsOfNonce) {
		list, v = append(list, first+int(v%base)), v/base
	}
	return list
}

// fill appends token ids up to this number.
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

// traced makes the JSON of a prompt from the blocks of a row of a trace. Blocks are made completely and cut on use: an
// id that stands for a short last block may stand for a complete one later.
func (s *Set) traced(phase load.Phase, row schedule.Row) []byte {
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
