package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"weir/logwatch"
	"weir/redact"
)

// ObserveTask asks for what a service has said since a launch began: of its log what it was watched
// for, and the page where it counts.
type ObserveTask struct {
	Log   string `json:"log"` // below the agent's log directory
	Begin bool   `json:"begin,omitempty"`
	Page  string `json:"page,omitempty"` // a URL; "": none
	File  string `json:"file,omitempty"` // that must have been written since the service started; "": none
}

// Observation is the answer.
type Observation struct {
	Matches []logwatch.Match // of the expressions that the log is watched for
	Tail    []string         // its last lines
	// Unproven is why the file is not what it must be; "": it is.
	Unproven string
	Page     []byte
	Error    string // "": nothing went wrong
	At       time.Time
}

// Bounds of an observation: of a page and of its answer, and how many lines of a log it has.
const (
	maxPage   = 16 << 20
	pageTime  = 10 * time.Second
	tailLines = 10
)

func (a *Agent) observe(ctx context.Context, t ObserveTask, h redact.Values) *Observation {
	o := &Observation{At: time.Now()}
	err := a.observeLog(t, o, h)
	if err == nil && t.Page != "" {
		o.Page, err = page(ctx, t.Page)
	}
	if err != nil {
		o.Error = h.Text(err.Error())
	}
	return o
}

func (a *Agent) observeLog(t ObserveTask, o *Observation, h redact.Values) error {
	if a.o.NoCommands {
		return errors.New(refusal)
	}
	f := a.followers.of(t.Log)
	if f == nil {
		return errors.New("it does not run any more")
	}
	if t.Begin {
		return f.begin()
	}
	err := f.look(mostBehind)
	o.Matches = f.watch.Matches()
	o.Tail = redactLines(h, f.log.last(tailLines))
	if t.File != "" {
		o.Unproven = h.Text(unproven(t.File, f.started))
	}
	return err
}

// coarse is by how much the time of a file may be before that at which it was written.
const coarse = 20 * time.Millisecond

// unproven says why a file was not written since a time; "": it was.
func unproven(path string, since time.Time) string {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("there is no file %s", path)
	case err != nil:
		return err.Error()
	}
	at := st.ModTime()
	if at.Nanosecond() == 0 { // of a file system that knows seconds only
		at = at.Add(time.Second)
	}
	if old := since.Add(-coarse).Sub(at); old > 0 {
		return fmt.Sprintf("file %s was written %v before the service started: it is of another", path,
			old.Round(time.Millisecond))
	}
	return ""
}

// page asks without the proxy of the environment: a service is on this host or on the
// cluster's network.
func page(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
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
