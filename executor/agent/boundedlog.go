package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxOutput is how much of the output of a command or a rank is kept, in bytes.
const maxOutput = 16 << 20

// boundedLog keeps a file from filling the disk that a command writes itself:
// through a pipe, a daemon that it leaves behind could write only as long as the
// command runs.
type boundedLog struct {
	file    *os.File // opened together with the command's: they have one place to write at
	largest int64    // bytes that had been written when it was last looked at
}

// boundLog bounds a file until stop, which says in the file what was left out. Whoever
// writes does so through the file that is given, or what was made of it.
func boundLog(of *os.File) (stop func() error, err error) {
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

// cut takes off what is too much. Whoever writes goes on at its place, which stays the
// count of what was written; the file's size would not be, if this were the last cut.
func (b *boundedLog) cut() error {
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
	return b.file.Truncate(maxOutput)
}

func (b *boundedLog) finish() error {
	if err := b.cut(); err != nil || b.largest <= maxOutput {
		return err
	}
	_, err := b.file.WriteAt(fmt.Appendf(nil, "\n… %d bytes more were left out\n", b.largest-maxOutput), maxOutput)
	return err
}
