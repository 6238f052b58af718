package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/internal/written"
	"github.com/weir-bench/weir/workload"
)

// ObserveTask requests the matches in a service's log since the beginning of a launch, and its metrics page.
type ObserveTask struct {
	Log   string `json:"log"`             // below the agent's log directory
	Begin bool   `json:"begin,omitempty"` // a launch begins: discard earlier matches
	Page  string `json:"page,omitempty"`  // a URL; "": none
	File  string `json:"file,omitempty"`  // that must have been written since the service started; "": none
	// Before is the written.State of the file before the start.
	Before string `json:"before,omitempty"`
}

// Observation is the answer to an ObserveTask.
type Observation struct {
	Matches []logwatch.Match `json:"matches,omitempty"` // of the watched expressions
	Tail    []string         `json:"tail,omitempty"`    // the last lines of the log
	// Unproven is why ObserveTask.File was not written by this start of the service; "": it was.
	Unproven string `json:"unproven,omitempty"`
	// Samples are those since the beginning of the launch.
	Samples workload.Samples `json:"samples,omitzero"`
	Page    []byte           `json:"-"`
	Error   string           `json:"error,omitempty"` // "": none
	At      time.Time        `json:"at"`              // by the clock that stamps the lines of the log
}

// Limits of an observation: bytes of a page, time of its request, and lines of a log.
const (
	maxPage   = 16 << 20
	pageTime  = 10 * time.Second
	tailLines = 10
)

func (a *Agent) observe(ctx context.Context, t ObserveTask, h redact.Values) *Observation {
	o := &Observation{At: time.Now()}
	err := a.observeLog(t, o, h)
	if err == nil && t.Page != "" {
		o.Page, err = Page(ctx, t.Page)
	}
	if err != nil {
		o.Error = h.Text(err.Error())
	}
	return o
}

func (a *Agent) observeLog(t ObserveTask, o *Observation, h redact.Values) error {
	if err := a.permitCommands(); err != nil {
		return err
	}
	f := a.followers.find(t.Log)
	if f == nil {
		return errors.New("it has ended")
	}
	o.At = f.clock.Now()
	if t.Begin {
		f.sampler.begin()
		return f.begin()
	}
	o.Samples = f.sampler.samples(h)
	err := f.readNew(maxBacklog)
	o.Matches = f.watch.Matches()
	o.Tail = redactLines(h, f.log.last(tailLines))
	if t.File != "" {
		o.Unproven = h.Text(unproven(t.File, t.Before, f.started))
	}
	return err
}

// timestampSlack is the coarseness of a file system's clock.
const timestampSlack = 20 * time.Millisecond

// unproven is why a file was not written since the service started; "": it was. before is its state before the start.
func unproven(path, before string, started time.Time) string {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("there is no file %s", path)
	case err != nil:
		return err.Error()
	case written.State(path) != before:
		return ""
	}
	at := st.ModTime()
	if at.Nanosecond() == 0 && !at.Add(time.Second).Before(started.Add(-timestampSlack)) {
		return "" // the file system may store seconds only
	}
	return fmt.Sprintf("file %s was written before the service started, by another service, and not since", path)
}

// Page reads a metrics page, without the proxy of the environment: services are on this host or in the cluster.
func Page(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxPage+1))
	if err == nil && len(text) > maxPage {
		err = fmt.Errorf("%s has more than %d MiB", url, maxPage>>20)
	}
	return text, err
}

const (
	readPerTick = 64 << 20  // bytes of a log that are read at each tick
	maxBacklog  = 256 << 20 // bytes of a log that may be unread before some are skipped
)

// logFollower matches lines of a log while it is written.
type logFollower struct {
	log     *logFile
	watch   *logwatch.Watch
	clock   steady.Clock // that stamps its lines
	started time.Time    // of the log
	sampler *sampler     // nil: nothing is sampled

	mu     sync.Mutex
	offset int64 // up to which the log was read
	missed int64 // skipped bytes
}

// followers are the followers of the logs of running launches, by log name.
type followers struct {
	mu  sync.Mutex
	all map[string]*logFollower
}

// follow starts to match lines of a log.
func (f *followers) follow(log *logFile, s logwatch.Spec, clock steady.Clock) error {
	watch, err := logwatch.New(s)
	if err != nil {
		return fmt.Errorf("watching a log: %w", err)
	}
	one := &logFollower{log: log, watch: watch, clock: clock, started: time.Now()}
	log.bounded.beforeCut = func() { _ = one.readNew(readPerTick) } // observeLog reports the error
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]*logFollower{}
	}
	f.all[log.name] = one
	return nil
}

// sample sets the sampler of the service with a log.
func (f *followers) sample(log string, s *sampler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[log]; one != nil {
		one.sampler = s
	}
}

// find returns the follower of a log; nil: no such log is being written.
func (f *followers) find(name string) *logFollower {
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

var errSlow = errors.New("it prints faster than its lines can be matched: print less, or use no metrics and proofs from its log")

// readNew reads up to most bytes that were written since the last call.
func (f *logFollower) readNew(most int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.log.file.Stat()
	if err != nil {
		return err
	}
	if behind := st.Size() - f.offset; behind > maxBacklog {
		f.missed += behind
		f.offset = st.Size()
	}
	n, err := io.Copy(f.watch, io.NewSectionReader(f.log.file, f.offset, min(most, st.Size()-f.offset)))
	f.offset += n
	if err == nil && f.missed > 0 {
		err = errSlow
	}
	return err
}

// begin discards the matches so far.
func (f *logFollower) begin() error {
	err := f.readNew(maxBacklog)
	f.mu.Lock()
	f.missed = 0
	f.mu.Unlock()
	f.watch.Begin()
	if errors.Is(err, errSlow) { // the skipped lines are not needed
		err = nil
	}
	return err
}
