package stream

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// scanners are kept: ten thousand streams that are open need few of them at a time.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scan reads an event of the usual form, token by token: a client that has 100 000 events per second
// spends most of its time here. ok is false where an event has anything unusual, which read then reads:
// FuzzScan holds that both say the same.
func (s *said) scan(data []byte) (ok bool) {
	p := scanners.Get().(*scanner)
	defer scanners.Put(p)
	*s = said{content: s.content[:0]}
	p.begin(data)
	p.object(topKeys, func(key int) {
		switch key {
		case topChoices:
			p.array(func() { s.choice(p) })
		case topUsage:
			if !p.null() {
				s.counted = true
				s.scanUsage(p)
			}
		case topObject:
			if bytes.Equal(p.text(), []byte("error")) {
				p.bad = true
			}
		default: // an error
			if !p.null() {
				p.bad = true
			}
		}
	})
	return !p.bad && p.ended()
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
	text := p.text()
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

// scanner reads JSON. bad is set by whatever is not JSON or not of the usual form.
type scanner struct {
	src     bytes.Buffer
	dec     *jsontext.Decoder
	bad     bool
	scratch []byte // the last text, without its escapes
	name    []byte // the last key
}

func (p *scanner) begin(data []byte) {
	p.bad = false
	p.src = *bytes.NewBuffer(data)
	if p.dec == nil {
		p.dec = jsontext.NewDecoder(&p.src, jsontext.AllowDuplicateNames(true)) // object refuses those that it knows
		return
	}
	p.dec.Reset(&p.src)
}

// ended says whether nothing follows.
func (p *scanner) ended() bool {
	_, err := p.dec.ReadToken()
	return err == io.EOF
}

// need takes a token.
func (p *scanner) need(kind jsontext.Kind) bool {
	if p.bad || p.dec.PeekKind() != kind {
		p.bad = true
		return false
	}
	_, err := p.dec.ReadToken()
	p.bad = err != nil
	return !p.bad
}

func (p *scanner) array(each func()) {
	for p.need('['); !p.bad && p.dec.PeekKind() != ']'; {
		each()
	}
	p.need(']')
}

// object calls value for the keys that are known, each of which comes once, and skips the others.
func (p *scanner) object(known []string, value func(key int)) {
	seen := 0
	for p.need('{'); !p.bad && p.dec.PeekKind() == '"'; {
		p.name = p.unquoted(p.name)
		key := slices.Index(known, string(p.name))
		if key < 0 {
			p.bad = p.bad || inOtherCase(p.name) || p.dec.SkipValue() != nil
			continue
		}
		p.bad = p.bad || seen&(1<<key) != 0
		seen |= 1 << key
		value(key)
	}
	p.need('}')
}

// inOtherCase is whether a key may be a known one in other case, for which encoding/json takes it.
func inOtherCase(name []byte) bool {
	return slices.ContainsFunc(name, func(c byte) bool { return c < '-' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf })
}

// unquoted takes a string into a buffer.
func (p *scanner) unquoted(to []byte) []byte {
	if p.bad || p.dec.PeekKind() != '"' {
		p.bad = true
		return to[:0]
	}
	quoted, err := p.dec.ReadValue()
	if err == nil {
		to, err = jsontext.AppendUnquote(to[:0], quoted)
	}
	p.bad = p.bad || err != nil
	return to
}

// text takes a string; it is good until the next one.
func (p *scanner) text() []byte {
	p.scratch = p.unquoted(p.scratch)
	return p.scratch
}

// null takes null.
func (p *scanner) null() bool { return !p.bad && p.dec.PeekKind() == 'n' && p.need('n') }

// filled takes a string or null, and says whether there is anything in it.
func (p *scanner) filled() bool { return !p.null() && len(p.text()) > 0 }

// number takes a number without sign, fraction and exponent.
func (p *scanner) number() int {
	if p.bad || p.dec.PeekKind() != '0' {
		p.bad = true
		return 0
	}
	digits, err := p.dec.ReadValue()
	n := 0
	for _, c := range digits {
		p.bad = p.bad || c < '0' || c > '9'
		n = 10*n + int(c-'0')
	}
	p.bad = p.bad || err != nil || len(digits) > mostDigits
	return n
}

// mostDigits of a number are an int.
const mostDigits = 18
