package stream

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads JSON token by token without keeping it: a client with 100 000 events per second spends most of its time
// here. After its first error it reads nothing more.
type scanner struct {
	src     bytes.Buffer
	dec     *jsontext.Decoder
	err     error  // of the JSON or of its source; or errForm
	name    []byte // the last member name
	scratch []byte // the last text
}

// errForm is the error of JSON with an unexpected structure.
var errForm = errors.New("JSON of another form")

// errSeveral is the error of JSON that is followed by anything.
var errSeveral = errors.New("more than one value")

// lenient accepts duplicate members and invalid UTF-8, as other parsers do.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scanners are pooled: ten thousand open streams need few at a time.
var scanners = sync.Pool{New: func() any {
	p := new(scanner)
	p.dec = jsontext.NewDecoder(&p.src, lenient...)
	return p
}}

// scan reads a document in memory.
func scan(data []byte, read func(p *scanner)) error {
	p := scanners.Get().(*scanner)
	defer scanners.Put(p)
	p.err, p.src = nil, *bytes.NewBuffer(data)
	p.dec.Reset(&p.src, lenient...)
	return p.document(read)
}

// scanFrom reads a document from a stream, which must contain nothing else.
func scanFrom(src func(p *scanner) io.Reader, read func(p *scanner)) error {
	p := new(scanner)
	p.dec = jsontext.NewDecoder(src(p), lenient...)
	return p.document(read)
}

func (p *scanner) document(read func(p *scanner)) error {
	read(p)
	if p.err != nil {
		return p.err
	}
	if _, err := p.dec.ReadToken(); err != io.EOF { // trailing data
		return errors.Join(errSeveral, err)
	}
	return nil
}

func (p *scanner) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *scanner) kind() jsontext.Kind {
	if p.err != nil {
		return 0
	}
	return p.dec.PeekKind()
}

// need reads a token of a kind. If PeekKind finds none, ReadToken returns the error.
func (p *scanner) need(kind jsontext.Kind) {
	if p.err != nil {
		return
	}
	found := p.dec.PeekKind()
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail(err)
	} else if found != kind {
		p.fail(errForm)
	}
}

func (p *scanner) skip() {
	if p.err == nil {
		p.err = p.dec.SkipValue()
	}
}

// array calls each for its elements; each must read its element.
func (p *scanner) array(each func()) {
	p.need('[')
	for p.err == nil && p.dec.PeekKind() != ']' {
		each()
	}
	p.need(']')
}

// object calls member for each name; member must read the value.
func (p *scanner) object(member func(name []byte)) {
	p.need('{')
	for p.err == nil && p.dec.PeekKind() != '}' {
		p.name = p.unquoted(p.name)
		if p.err == nil {
			member(p.name)
		}
	}
	p.need('}')
}

// optional reads an object; another value has no members.
func (p *scanner) optional(member func(name []byte)) {
	if p.kind() != '{' {
		p.skip()
		return
	}
	p.object(member)
}

// value reads a value, and returns its JSON until the next call.
func (p *scanner) value() jsontext.Value {
	if p.err != nil {
		return nil
	}
	v, err := p.dec.ReadValue()
	p.err = err
	return v
}

// unquoted reads a string into a buffer.
func (p *scanner) unquoted(to []byte) []byte {
	v := p.value()
	if p.err == nil && v.Kind() != '"' {
		p.fail(errForm)
	}
	if p.err != nil {
		return to[:0]
	}
	to, _ = jsontext.AppendUnquote(to[:0], v) // it fails only for invalid UTF-8
	return to
}

// text reads a string or null, and returns the string until the next call.
func (p *scanner) text() []byte {
	if p.null() {
		return nil
	}
	p.scratch = p.unquoted(p.scratch)
	return p.scratch
}

// label reads any value, and returns it if it is a string.
func (p *scanner) label() []byte {
	if p.kind() == '"' {
		return p.text()
	}
	p.skip()
	return nil
}

// null reads null.
func (p *scanner) null() bool {
	if p.kind() != 'n' {
		return false
	}
	p.need('n')
	return p.err == nil
}

// nonEmpty reads a value, and reports whether it is non-empty: a text, or an object or array with a non-empty member.
// Numbers and true count only within a value.
func (p *scanner) nonEmpty(inside bool) (something bool) {
	switch p.kind() {
	case '"':
		return len(p.value()) > len(`""`)
	case '[':
		p.array(func() { something = p.nonEmpty(true) || something })
	case '{':
		p.object(func(name []byte) {
			if labels(name) {
				p.skip()
				return
			}
			something = p.nonEmpty(true) || something
		})
	case '0', 't':
		p.skip()
		return inside
	default:
		p.skip()
	}
	return something
}

// labels reports whether a member of an output is metadata.
func labels(name []byte) bool {
	switch string(name) {
	case "role", "index", "id", "type", "object", "format":
		return true
	}
	return false
}

// maxDigits limits the length of a number.
const maxDigits = 400

// number reads a number or null. A whole one may be written as 10, 10.0, 1e1 or "10".
func (p *scanner) number() (n float64, given bool) {
	if p.null() {
		return 0, false
	}
	v := p.value()
	text := string(v)
	if p.err == nil && v.Kind() == '"' { // as JSON of protocol buffers has whole numbers
		text = strings.Trim(text, `"`)
		if !jsontext.Value(text).IsValid() || jsontext.Value(text).Kind() != '0' {
			p.fail(errForm)
		}
	} else if p.err == nil && v.Kind() != '0' {
		p.fail(errForm)
	}
	if p.err == nil && len(text) > maxDigits {
		p.fail(errForm)
	}
	if p.err != nil {
		return 0, false
	}
	n, _ = strconv.ParseFloat(text, 64) // ±Inf if it is out of range
	return n, true
}
