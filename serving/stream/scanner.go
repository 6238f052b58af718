package stream

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads JSON token by token and keeps none of it: a client that has 100 000 events per second
// spends most of its time here. After its first error it reads no more.
type scanner struct {
	src     bytes.Buffer
	dec     *jsontext.Decoder
	err     error  // of the JSON or of its source; errForm
	name    []byte // the last name of a member
	scratch []byte // the last text
}

// errForm is JSON of another form than is expected at its place.
var errForm = errors.New("JSON of another form")

// lenient takes what other readers take: members that come twice, and text that is no UTF-8.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scanners are kept: ten thousand streams that are open need few of them at a time.
var scanners = sync.Pool{New: func() any {
	p := new(scanner)
	p.dec = jsontext.NewDecoder(&p.src, lenient...)
	return p
}}

// scan reads a document that is in memory.
func scan(data []byte, read func(p *scanner)) error {
	p := scanners.Get().(*scanner)
	defer scanners.Put(p)
	p.err, p.src = nil, *bytes.NewBuffer(data)
	p.dec.Reset(&p.src, lenient...)
	return p.document(read)
}

// scanFrom reads a document while it comes. It is the only value of what it comes from.
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
	if _, err := p.dec.ReadToken(); err != io.EOF { // something follows
		return errors.Join(errors.New("more than one value"), err)
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

// need takes a token. Where PeekKind finds none, ReadToken says why.
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

// array calls each for its elements, each of which it takes.
func (p *scanner) array(each func()) {
	p.need('[')
	for p.err == nil && p.dec.PeekKind() != ']' {
		each()
	}
	p.need(']')
}

// object calls member for the names of its members, whose values it takes.
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

// value takes a value, and gives its JSON until the next call.
func (p *scanner) value() jsontext.Value {
	if p.err != nil {
		return nil
	}
	v, err := p.dec.ReadValue()
	p.err = err
	return v
}

// unquoted takes a string into a buffer.
func (p *scanner) unquoted(to []byte) []byte {
	v := p.value()
	if p.err == nil && v.Kind() != '"' {
		p.fail(errForm)
	}
	if p.err != nil {
		return to[:0]
	}
	to, _ = jsontext.AppendUnquote(to[:0], v) // its only error is that of text that is no UTF-8
	return to
}

// text takes a string or null, and gives the string until the next one.
func (p *scanner) text() []byte {
	if p.null() {
		return nil
	}
	p.scratch = p.unquoted(p.scratch)
	return p.scratch
}

// label takes any value, and gives it if it is a string.
func (p *scanner) label() []byte {
	if p.kind() == '"' {
		return p.text()
	}
	p.skip()
	return nil
}

// null takes null.
func (p *scanner) null() bool {
	if p.kind() != 'n' {
		return false
	}
	p.need('n')
	return p.err == nil
}

// said takes a value, and says whether anything was said by it: a text, or members and elements that say
// something. Numbers and true do so inside of a value only.
func (p *scanner) said(inside bool) (something bool) {
	switch p.kind() {
	case '"':
		return len(p.value()) > len(`""`)
	case '[':
		p.array(func() { something = p.said(true) || something })
	case '{':
		p.object(func(name []byte) {
			if labels(name) {
				p.skip()
				return
			}
			something = p.said(true) || something
		})
	case '0', 't':
		p.skip()
		return inside
	default:
		p.skip()
	}
	return something
}

// labels says whether a member of what was generated is none of it.
func labels(name []byte) bool {
	switch string(name) {
	case "role", "index", "id", "type", "object", "format":
		return true
	}
	return false
}

// mostDigits is how long a number may be written.
const mostDigits = 400

// number takes a number or null. A whole one may be written as 10, 10.0 or 1e1.
func (p *scanner) number() (n float64, given bool) {
	if p.null() {
		return 0, false
	}
	v := p.value()
	if p.err == nil && (v.Kind() != '0' || len(v) > mostDigits) {
		p.fail(errForm)
	}
	if p.err != nil {
		return 0, false
	}
	n, _ = strconv.ParseFloat(string(v), 64) // ±Inf where it is out of range
	return n, true
}
