package stream

import (
	"cmp"
	"errors"
	"io"
	"math"
)

// Tokens reads the answer of a tokenizer: the number of tokens, or a list of them.
func Tokens(body io.Reader) (int, error) {
	src := &document{from: &bounded{from: body, left: MaxBytes, most: MaxBytes, head: new(head)}}
	count, listed, counted, lists := 0., 0, false, false
	err := scanFrom(func(p *scanner) io.Reader { src.p = p; return src }, func(p *scanner) {
		p.object(func(name []byte) {
			switch string(name) {
			case "count":
				count, counted = p.number()
			case "tokens":
				if lists = !p.null(); lists {
					p.array(func() { p.skip(); listed++ })
				}
			default:
				p.skip()
			}
		})
	})
	switch {
	case src.err != nil || err != nil:
		return 0, cmp.Or(src.err, err)
	case counted && count >= 0 && count == math.Trunc(count) && count <= math.MaxInt32:
		return int(count), nil
	case !counted && lists:
		return listed, nil
	}
	return 0, errors.New("it counts nothing")
}
