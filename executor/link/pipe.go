package link

import (
	"io"
	"net"
	"sync"
	"time"
)

// Pipe makes a connection of what is read from and what is written to, such as a
// process's standard input and output. Close does not wait for a Read under way, which
// nothing can interrupt where files are not polled: that goes on alone until its file
// ends. Deadlines are not kept; links need none.
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
	nowhere
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
		go p.r.Close() // waits for a Read of a file that is not polled
	})
	return p.err
}

// nowhere is what a connection has without an address and without deadlines.
type nowhere struct{}

func (nowhere) Network() string                  { return "link" }
func (nowhere) String() string                   { return "link" }
func (nowhere) LocalAddr() net.Addr              { return nowhere{} }
func (nowhere) RemoteAddr() net.Addr             { return nowhere{} }
func (nowhere) SetDeadline(time.Time) error      { return nil }
func (nowhere) SetReadDeadline(time.Time) error  { return nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }
