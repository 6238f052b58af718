package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxOutput is the size of a log in bytes: half from the beginning of the output, half from its end.
const (
	maxOutput  = 16 << 20
	halfOutput = maxOutput / 2
)

// boundedLog limits the disk space of a file that a command writes directly. A pipe would break for daemons that
// outlive the command.
type boundedLog struct {
	file      *os.File // shares its offset with the command's
	written   int64    // bytes at the last check
	noHoles   bool     // the file system has no holes: the file is truncated, without the end of the output
	beforeCut func()   // called before content is removed; nil: none
}

// BoundLog limits a file until stop, which writes into the file how much was left out. All writers use the given
// file or duplicates of its descriptor.
func BoundLog(of *os.File) (stop func() error, err error) {
	fd, err := unix.FcntlInt(of.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), of.Name())
	b := &boundedLog{file: file}
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		clock := time.NewTicker(100 * time.Millisecond)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				_ = b.cut() // finish reports a lasting error
			case <-done:
				ended <- errors.Join(b.finish(), file.Close())
				return
			}
		}
	}()
	return func() error { close(done); return <-ended }, nil
}

// cut removes the middle of a file that is too long, as a hole: writers keep their offset, which is the number of
// bytes written.
func (b *boundedLog) cut() error {
	if b.beforeCut != nil {
		b.beforeCut()
	}
	st, err := b.file.Stat()
	if err != nil {
		return err
	}
	written, err := b.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	b.written = max(b.written, st.Size(), written)
	if st.Size() <= maxOutput {
		return nil
	}
	if !b.noHoles {
		err := punchHole(b.file, halfOutput, st.Size()-maxOutput)
		if !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
		b.noHoles = true
	}
	return b.file.Truncate(maxOutput)
}

// finish moves the end after the beginning, with a line between them that counts the bytes left out.
func (b *boundedLog) finish() error {
	if err := b.cut(); err != nil || b.written <= maxOutput {
		return err
	}
	if b.noHoles {
		_, err := b.file.WriteAt(leftOut(b.written-maxOutput, "more"), maxOutput)
		return err
	}
	begin, err := io.ReadAll(io.NewSectionReader(b.file, 0, halfOutput))
	if err != nil {
		return err
	}
	end, err := io.ReadAll(io.NewSectionReader(b.file, b.written-halfOutput, halfOutput))
	if err != nil {
		return err
	}
	begin, end = wholeLines(begin, end)
	note := leftOut(b.written-int64(len(begin)+len(end)), "")
	if bytes.HasSuffix(begin, note[:1]) {
		note = note[1:]
	}
	text := append(note, end...)
	if _, err := b.file.WriteAt(text, int64(len(begin))); err != nil {
		return err
	}
	size := int64(len(begin) + len(text))
	if err := b.file.Truncate(size); err != nil {
		return err
	}
	_, err = b.file.Seek(size, io.SeekStart) // for daemons that still write
	return err
}

// wholeLines removes the incomplete lines at the end of begin and the start of end, unless they are long.
func wholeLines(begin, end []byte) (_, _ []byte) {
	if at := bytes.LastIndexByte(begin, '\n'); len(begin)-at <= tailMax {
		begin = begin[:at+1]
	}
	if at := bytes.IndexByte(end, '\n'); at >= 0 && at < tailMax {
		end = end[at+1:]
	}
	return begin, end
}

func leftOut(bytes int64, more string) []byte {
	if more != "" {
		more = " " + more
	}
	return fmt.Appendf(nil, "\n… %d bytes%s were left out\n", bytes, more)
}
