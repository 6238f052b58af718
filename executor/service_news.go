package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/quantity"
)

// newsEvery is how often a session says what a service does that is not ready: a server may compile kernels for
// 20 minutes.
const newsEvery = time.Minute

var errNews = errors.New("it is time for news")

// waitWithNews is Wait that calls tell after each interval.
func (s *session) waitWithNews(ctx context.Context, every time.Duration, tell func(), done func() bool) error {
	for {
		err := s.waitFor(ctx, every, errNews, done)
		if !errors.Is(err, errNews) {
			return err
		}
		tell()
	}
}

// tellNews says how long services have not been ready, and the last line of their logs.
func (v *services) tellNews(waiting []*service) {
	for _, x := range waiting {
		if x.facts == nil && x.failure == nil {
			v.s.ledger.Events.Emit(event.Event{
				Type: event.ServiceWaits, Service: x.Name, Reason: x.news(v.s.o.Dir, v.s.secrets, time.Now()),
			})
		}
	}
}

// tellWork says what the services and the first rank of a launch print while it has no result: the first request to a
// server may compile kernels, too, and a rank may wait for an endpoint that does not answer.
func (v *services) tellWork(l *launchRun) {
	if !l.lastResult.IsZero() {
		return
	}
	if l.firstLog != "" {
		line, _ := lastLine(filepath.Join(v.s.o.Dir, "logs", l.firstLog), v.s.secrets)
		if line != "" && line != l.reported {
			l.reported = line
			v.s.ledger.Events.Emit(event.Event{Type: event.ServiceWaits,
				Reason: l.g.ID + " has no result yet; the last line of rank 0: " + line})
		}
	}
	for _, spec := range l.services {
		x := v.find(spec.Name)
		if x == nil || x.facts == nil || x.failure != nil {
			continue
		}
		if line, _ := x.lastLine(v.s.o.Dir, v.s.secrets); line != "" && line != x.reported {
			x.reported = line
			v.s.ledger.Events.Emit(event.Event{Type: event.ServiceWaits, Service: x.Name,
				Reason: "no result of the launch yet; its last line: " + line})
		}
	}
}

// news is what is known of a service that is not ready. The log of a service on another host is there.
func (x *service) news(dir string, secrets []string, now time.Time) string {
	text := "not ready after " + quantity.ShortSeconds(now.Sub(x.started).Round(time.Second).Seconds())
	switch line, here := x.lastLine(dir, secrets); {
	case !here:
		return text
	case line == "":
		return text + "; it has printed nothing"
	default:
		return text + "; its last line: " + line
	}
}

// lastLine is the last line of the log, which is here if the node of the service is.
func (x *service) lastLine(dir string, secrets []string) (line string, here bool) {
	return lastLine(filepath.Join(dir, x.log), secrets)
}

// lastLine is the last line of a log without secrets; here reports whether the log is on this host.
func lastLine(path string, secrets []string) (line string, here bool) {
	log, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer log.Close()
	lines := agent.Tail(log)
	if len(lines) == 0 {
		return "", true
	}
	return agent.HiddenHere(secrets).Text(lines[len(lines)-1]), true
}
