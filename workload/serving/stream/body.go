package stream

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/serving/load"
)

// head is the beginning of an answer.
type head struct {
	bytes [maxBegin]byte
	n     int
}

func (h *head) add(b []byte) { h.n += copy(h.bytes[h.n:], b) }

func (h *head) text() string { return Begin(string(h.bytes[:h.n])) }

// bounded reads an answer up to its limit.
type bounded struct {
	from       io.Reader
	left, most int64
	head       *head
	over       bool // the end was read
}

func (b *bounded) Read(to []byte) (int, error) {
	n, err := b.from.Read(to)
	b.head.add(to[:n])
	b.over = errors.Is(err, io.EOF)
	if b.left -= int64(n); b.left < 0 {
		return 0, malformed("the answer is longer than %v, the limit of max_answer", quantity.Size(b.most))
	}
	return n, err
}

// Unpack decodes an answer with this Content-Encoding, and fails for an unknown one.
func Unpack(body io.Reader, encoding string, l Limits) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &unpacking{from: &bounded{from: body, left: l.Bytes, most: l.Bytes, head: new(head)}}, nil
	}
	return nil, malformed("the answer has Content-Encoding %s, which was not requested", Words(encoding))
}

// unpacking decodes gzip. It waits for data only when it is read.
type unpacking struct {
	from *bounded
	zip  *gzip.Reader
}

func (u *unpacking) Read(to []byte) (n int, err error) {
	if u.zip == nil {
		u.zip, err = gzip.NewReader(u.from)
	}
	if err == nil {
		n, err = u.zip.Read(to)
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return n, &fault{load.Malformed, fmt.Sprintf("the answer has Content-Encoding gzip but is not gzip: %v", err)}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && u.from.over {
		return n, &fault{load.Truncated, "the answer ended, but its gzip data are cut short"}
	}
	return n, err
}
