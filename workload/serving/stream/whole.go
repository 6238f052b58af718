package stream

import (
	"errors"
	"io"
)

// Whole reads an answer that is one JSON document, keeping at most one text at a time. Its tokens have no times.
func (r *Reader) Whole(body io.Reader) error {
	defer r.count()
	src := &document{from: &bounded{from: body, left: r.limits.Bytes, most: r.limits.Bytes, head: &r.head}}
	err := scanFrom(func(p *scanner) io.Reader { src.p = p; return src }, r.parsed.read)
	at := r.now()
	r.rec.Done = at
	switch {
	case src.err != nil: // the body's own error
		return r.end(at, src.err)
	case err != nil:
		return r.end(at, noJSON(r.head.bytes[:r.head.n], err))
	}
	parsed := &r.parsed
	if err := parsed.wrong(); err != nil {
		return r.end(at, err)
	}
	if !parsed.chunk {
		return r.end(at, noJSON(r.head.bytes[:r.head.n], errForm))
	}
	if parsed.output {
		if err := r.oneChoice(); err != nil {
			return r.end(at, err)
		}
		r.rec.Last, r.rec.Beyond = at, parsed.beyond()
	}
	r.usage = parsed.usage
	if err := r.keep(); err != nil {
		return r.end(at, err)
	}
	return r.end(at, nil)
}

// InPlaceOfStream reads an answer that is one JSON document, though a stream was requested.
func (r *Reader) InPlaceOfStream(body io.Reader) error {
	err := r.Whole(body)
	if err == nil && r.ended {
		return r.end(r.now(), malformed("the answer is one JSON document in place of a stream: stream: false measures it"))
	}
	return err
}

// document is the source of a scanner, which limits the text in memory.
type document struct {
	from io.Reader
	p    *scanner
	read int64
	err  error // other than io.EOF
}

func (d *document) Read(to []byte) (int, error) {
	if d.p.dec != nil && d.read-d.p.dec.InputOffset() > maxEvent {
		d.err = malformed("the answer has a text of more than %d bytes", maxEvent)
		return 0, d.err
	}
	n, err := d.from.Read(to)
	d.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		d.err = err
	}
	return n, err
}
