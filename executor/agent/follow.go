package agent

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"weir/logwatch"
)

const (
	// followAtOnce is how much of a log is looked at between two looks at the ranks, in bytes.
	followAtOnce = 64 << 20
	// mostBehind is how far a watch may be behind who writes a log, which lies on the disk meanwhile.
	mostBehind = 256 << 20
)

// follower looks for lines in a log while that is written.
type follower struct {
	log     *logFile
	watch   *logwatch.Watch
	started time.Time // of who writes it

	mu     sync.Mutex
	at     int64 // as far as it has looked
	missed int64 // bytes that came faster than they could be looked at
}

// followers are those of the launches that run, by the names of their logs.
type followers struct {
	mu  sync.Mutex
	all map[string]*follower
}

// follow begins to look for lines in a log.
func (f *followers) follow(log *logFile, s logwatch.Spec) error {
	watch, err := logwatch.New(s)
	if err != nil {
		return fmt.Errorf("what is looked for in a log: %w", err)
	}
	one := &follower{log: log, watch: watch, started: time.Now()}
	log.most.seen = func() { _ = one.look(followAtOnce) } // who asks hears what is wrong
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]*follower{}
	}
	f.all[log.name] = one
	return nil
}

// of is nil where no log of that name is written.
func (f *followers) of(name string) *follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[name]
}

func (f *followers) drop(log *logFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[log.name]; one != nil && one.log == log {
		delete(f.all, log.name)
	}
}

var errSlow = errors.New("it prints faster than its lines can be looked at: print less, or leave out metrics and proofs of its log")

// look looks at so much of what has come since.
func (f *follower) look(most int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.log.file.Stat()
	if err != nil {
		return err
	}
	if behind := st.Size() - f.at; behind > mostBehind {
		f.missed += behind
		f.at = st.Size()
	}
	n, err := io.Copy(f.watch, io.NewSectionReader(f.log.file, f.at, min(most, st.Size()-f.at)))
	f.at += n
	if err == nil && f.missed > 0 {
		err = errSlow
	}
	return err
}

// begin looks from now on.
func (f *follower) begin() error {
	err := f.look(mostBehind)
	f.mu.Lock()
	f.missed = 0
	f.mu.Unlock()
	f.watch.Begin()
	if errors.Is(err, errSlow) { // nobody asks for what was before
		err = nil
	}
	return err
}
