package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ObserveTask asks for what a service has said since: of its log from a place on, and of the
// page where it counts.
type ObserveTask struct {
	Log  string `json:"log"` // below the agent's log directory
	From int64  `json:"from"`
	Page string `json:"page,omitempty"` // a URL; "": none
}

// Observation is the answer.
type Observation struct {
	Log   []byte // from the place on
	Page  []byte
	Error string // "": nothing went wrong
	At    time.Time
}

// Bounds of an observation: of the part of a log, of a page and of its answer.
const (
	maxObserved = 16 << 20
	maxPage     = 16 << 20
	pageTime    = 10 * time.Second
)

func (a *Agent) observe(ctx context.Context, t ObserveTask, h hidden) *Observation {
	o := Observation{At: time.Now()}
	var err error
	if a.o.NoCommands {
		err = errors.New(refusal)
	} else {
		o.Log, err = a.logs.part(t.Log, t.From)
	}
	if err == nil && t.Page != "" {
		o.Page, err = page(ctx, t.Page)
	}
	if err != nil {
		o.Error = h.redact(err.Error())
	}
	return &o
}

// part is a log from a place on.
func (d *logDir) part(name string, from int64) ([]byte, error) {
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, maxObserved+1))
	if err == nil && len(text) > maxObserved {
		err = fmt.Errorf("it has printed more than %d MiB since it was looked at last", maxObserved>>20)
	}
	return text, err
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
