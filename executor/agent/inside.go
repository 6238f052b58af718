package agent

import (
	"errors"
	"io"
	"os"

	"weir/engine"
	"weir/executor/rank"
)

// channel is what an agent and a rank talk over.
type channel interface {
	io.ReadWriteCloser
	CloseRead() error
	CloseWrite() error
}

// pipe is one end of a channel within this process.
type pipe struct {
	in  *io.PipeReader
	out *io.PipeWriter
}

func pipes() (ours, theirs pipe) {
	ours.in, theirs.out = io.Pipe()
	theirs.in, ours.out = io.Pipe()
	return ours, theirs
}

func (p pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipe) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipe) CloseRead() error            { return p.in.Close() }
func (p pipe) CloseWrite() error           { return p.out.Close() }
func (p pipe) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

// startInside starts a rank that is a goroutine of this process and no process of its
// own: it says and hears what one does, has no output, and its end is no exit.
func startInside(e engine.Engine, emit func(event)) *process {
	ours, theirs := pipes()
	p := &process{emit: emit, outbox: make(chan outgoing, 3), read: make(chan struct{}), conn: ours, control: &engine.Control{}}
	go p.receive()
	go p.send()
	go func() {
		rank.Inside(theirs, p.control, e)
		theirs.Close()
		<-p.read
		p.emit(event{from: p, exit: &os.ProcessState{}})
	}()
	return p
}
