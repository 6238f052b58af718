package stream

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// said is what an event of the usual form says.
type said struct {
	content  []byte // of all choices
	thought  bool   // generated output that the user does not see
	finished bool
	usage    usage
	cached   int
	counted  bool // usage is given
	detailed bool // cached is given
}

// scan reads an event of the usual form, without the cost of a general decoder: a client that has
// 100 000 events per second spends most of its time here. ok is false where an event has anything
// unusual, which chunk then reads: FuzzScan holds that both say the same.
func (s *said) scan(data []byte) (ok bool) {
	*s = said{content: s.content[:0]}
	p := scanner{b: data}
	p.object(topKeys, func(key int) {
		switch key {
		case topChoices:
			p.array(func() { s.choice(&p) })
		case topUsage:
			if !p.null() {
				s.counted = true
				s.scanUsage(&p)
			}
		case topObject:
			if bytes.Equal(p.plain(), []byte("error")) {
				p.bad = true
			}
		default: // an error
			if !p.null() {
				p.bad = true
			}
		}
	})
	p.blanks()
	return !p.bad && p.i == len(data)
}

const (
	topChoices = iota
	topUsage
	topObject
)

var (
	topKeys    = []string{"choices", "usage", "object", "error", "message"}
	choiceKeys = []string{"text", "delta", "finish_reason", "message"}
	deltaKeys  = []string{"content", "reasoning", "reasoning_content", "tool_calls", "function_call"}
	usageKeys  = []string{"prompt_tokens", "completion_tokens", "prompt_tokens_details"}
	detailKeys = []string{"cached_tokens"}
)

func (s *said) choice(p *scanner) {
	before := len(s.content)
	p.object(choiceKeys, func(key int) {
		switch key {
		case 0:
			s.add(p, before)
		case 1:
			if !p.null() {
				p.object(deltaKeys, func(key int) {
					switch key {
					case 0:
						s.add(p, before)
					case 1, 2:
						s.thought = p.filled() || s.thought
					default: // calls have forms of their own
						if !p.null() {
							p.bad = true
						}
					}
				})
			}
		case 2:
			s.finished = p.filled() || s.finished
		default:
			p.bad = true
		}
	})
}

// add adds a text to the content; a choice has one.
func (s *said) add(p *scanner, before int) {
	if p.null() {
		return
	}
	text := p.plain()
	if len(text) > 0 && len(s.content) > before {
		p.bad = true
	}
	s.content = append(s.content, text...)
}

func (s *said) scanUsage(p *scanner) {
	p.object(usageKeys, func(key int) {
		switch key {
		case 0:
			s.usage.Prompt = p.number()
		case 1:
			s.usage.Completion = p.number()
		default:
			if !p.null() {
				p.object(detailKeys, func(int) {
					if !p.null() {
						s.cached, s.detailed = p.number(), true
					}
				})
			}
		}
	})
}

// scanner goes through JSON. bad is set by whatever is not JSON or not of the usual form.
type scanner struct {
	b   []byte
	i   int
	bad bool
	// depth is of values that nobody asked for.
	depth int
}

// Beyond these a value is not of the usual form; so many digits are an int.
const deepest, mostDigits = 64, 18

func (p *scanner) peek() byte {
	if p.bad || p.i >= len(p.b) {
		p.bad = true
		return 0
	}
	return p.b[p.i]
}

func (p *scanner) blanks() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\n' || p.b[p.i] == '\t' || p.b[p.i] == '\r') {
		p.i++
	}
}

// take takes a byte, if it is the next one.
func (p *scanner) take(c byte) bool {
	p.blanks()
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

func (p *scanner) need(c byte) {
	if !p.take(c) {
		p.bad = true
	}
}

// members goes through what stands between two brackets.
func (p *scanner) members(closing byte, each func()) {
	if p.take(closing) {
		return
	}
	for !p.bad {
		each()
		if p.take(closing) {
			return
		}
		p.need(',')
	}
}

func (p *scanner) array(each func()) {
	p.need('[')
	p.members(']', each)
}

// object calls value for the keys that are known, each of which comes once, and skips the others.
func (p *scanner) object(known []string, value func(key int)) {
	seen := 0
	p.need('{')
	p.members('}', func() {
		p.blanks()
		name := p.plain()
		p.need(':')
		p.blanks()
		for key, k := range known {
			if string(name) == k {
				if seen&(1<<key) != 0 {
					p.bad = true
				}
				seen |= 1 << key
				value(key)
				return
			}
		}
		// encoding/json takes a key in other case for the known one
		for _, c := range name {
			if c < '-' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
				p.bad = true
			}
		}
		p.skip()
	})
}

// null takes null.
func (p *scanner) null() bool {
	if p.peek() != 'n' {
		return false
	}
	p.literal("null")
	return true
}

func (p *scanner) literal(text string) {
	if !bytes.HasPrefix(p.b[p.i:], []byte(text)) {
		p.bad = true
		return
	}
	p.i += len(text)
}

// filled takes a string or null, and says whether there is anything in it.
func (p *scanner) filled() bool {
	return !p.null() && len(p.plain()) > 0
}

// plain takes a string that is a valid text, and gives it without its escapes.
func (p *scanner) plain() []byte {
	p.need('"')
	begin, escaped, ascii := p.i, false, true
	for !p.bad {
		switch c := p.peek(); {
		case c == '"':
			text := p.b[begin:p.i]
			p.i++
			if !ascii && !utf8.Valid(text) {
				p.bad = true
			}
			if escaped {
				var s string
				if json.Unmarshal(p.b[begin-1:p.i], &s) != nil {
					p.bad = true
				}
				return []byte(s)
			}
			return text
		case c == '\\':
			escaped = true
			p.i++
			p.peek()
		case c < ' ':
			p.bad = true
		case c >= utf8.RuneSelf:
			ascii = false
		}
		p.i++
	}
	return nil
}

// number takes a number without sign, fraction and exponent.
func (p *scanner) number() int {
	zero := p.peek() == '0'
	n, digits := p.digits()
	p.bad = p.bad || zero && digits > 1
	return n
}

// digits takes one or more, and gives their number and how many there are.
func (p *scanner) digits() (n, digits int) {
	begin := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		n = 10*n + int(p.b[p.i]-'0')
		p.i++
	}
	digits = p.i - begin
	p.bad = p.bad || digits == 0 || digits > mostDigits
	return n, digits
}

// skip takes any value.
func (p *scanner) skip() {
	if p.depth++; p.depth > deepest {
		p.bad = true
	}
	switch c := p.peek(); c {
	case '{':
		p.i++
		p.members('}', func() {
			p.blanks()
			p.plain()
			p.need(':')
			p.blanks()
			p.skip()
		})
	case '[':
		p.i++
		p.members(']', func() {
			p.blanks()
			p.skip()
		})
	case '"':
		p.plain()
	case 't':
		p.literal("true")
	case 'f':
		p.literal("false")
	case 'n':
		p.literal("null")
	default:
		if c == '-' {
			p.i++
		}
		p.number()
		if p.i < len(p.b) && p.b[p.i] == '.' {
			p.i++
			p.digits()
		}
	}
	p.depth--
}
