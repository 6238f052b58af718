package link

import (
	"io"
	"net"
	"sync"
	"time"
)

// Pipe is a connection over a reader and a writer, such as a process's stdin and stdout. Close does not
// wait for a running Read of r, which cannot be interrupted. Deadlines are ignored.
func Pipe(r io.ReadCloser, w io.WriteCloser) net.Conn {
	p := &pipe{r: r, w: w}
	p.came, p.put = io.Pipe()
	go func() {
		_, err := io.Copy(p.put, r)
		p.put.CloseWithError(err) // nil is io.EOF
	}()
	return p
}

type pipe struct {
	noAddress
	r    io.ReadCloser
	w    io.WriteCloser
	came *io.PipeReader
	put  *io.PipeWriter
	once sync.Once
	err  error
}

func (p *pipe) Read(b []byte) (int, error)  { return p.came.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

func (p *pipe) Close() error {
	p.once.Do(func() {
		p.came.CloseWithError(net.ErrClosed)
		p.err = p.w.Close()
		go p.r.Close() // may wait for a Read
	})
	return p.err
}

// noAddress implements the addresses and deadlines of a net.Conn that has none.
type noAddress struct{}

func (noAddress) Network() string                  { return "link" }
func (noAddress) String() string                   { return "link" }
func (noAddress) LocalAddr() net.Addr              { return noAddress{} }
func (noAddress) RemoteAddr() net.Addr             { return noAddress{} }
func (noAddress) SetDeadline(time.Time) error      { return nil }
func (noAddress) SetReadDeadline(time.Time) error  { return nil }
func (noAddress) SetWriteDeadline(time.Time) error { return nil }

// isPipe reports whether a connection is a pipe, which cannot be connected again.
func isPipe(conn net.Conn) bool {
	if s, ok := conn.(*stranger); ok {
		conn = s.Conn
	}
	_, is := conn.(*pipe)
	return is
}
