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

// maxOutput is how much of the output of a command or a rank is kept, in bytes: half of it from its
// beginning and half from its end.
const (
	maxOutput  = 16 << 20
	halfOutput = maxOutput / 2
)

// boundedLog keeps a file from filling the disk that a command writes itself:
// through a pipe, a daemon that it leaves behind could write only as long as the
// command runs.
type boundedLog struct {
	file    *os.File // opened together with the command's: they have one place to write at
	largest int64    // bytes that had been written when it was last looked at
	noHoles bool     // its file system has none: what is too much is cut off, with the end
	seen    func()   // looks at what has come since, before a part of it goes; nil: nobody does
}

// BoundLog bounds a file until stop, which says in the file what was left out. Whoever
// writes does so through the file that is given, or what was made of it.
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
				_ = b.cut() // the last one says what is wrong
			case <-done:
				ended <- errors.Join(b.finish(), file.Close())
				return
			}
		}
	}()
	return func() error { close(done); return <-ended }, nil
}

// cut takes what is too much off the disk. Whoever writes goes on at its place, which stays the
// count of what was written: the middle becomes a hole.
func (b *boundedLog) cut() error {
	if b.seen != nil {
		b.seen()
	}
	st, err := b.file.Stat()
	if err != nil {
		return err
	}
	written, err := b.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	b.largest = max(b.largest, st.Size(), written)
	if st.Size() <= maxOutput {
		return nil
	}
	if !b.noHoles {
		err := unix.Fallocate(int(b.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, halfOutput,
			st.Size()-maxOutput)
		if !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
		b.noHoles = true
	}
	return b.file.Truncate(maxOutput)
}

// finish puts the end behind the beginning, and one line between them that says what was left out.
func (b *boundedLog) finish() error {
	if err := b.cut(); err != nil || b.largest <= maxOutput {
		return err
	}
	if b.noHoles {
		_, err := b.file.WriteAt(leftOut(b.largest-maxOutput, "more"), maxOutput)
		return err
	}
	begin, err := io.ReadAll(io.NewSectionReader(b.file, 0, halfOutput))
	if err != nil {
		return err
	}
	end, err := io.ReadAll(io.NewSectionReader(b.file, b.largest-halfOutput, halfOutput))
	if err != nil {
		return err
	}
	begin, end = wholeLines(begin, end)
	note := leftOut(b.largest-int64(len(begin)+len(end)), "")
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
	_, err = b.file.Seek(size, io.SeekStart) // whoever is left behind goes on there
	return err
}

// wholeLines takes off the part of a line at which a beginning ends and an end begins, if it is not long.
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
