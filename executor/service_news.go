package executor

import (
	"context"
	"errors"
	"fmt"
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

// news is what is known of a service that is not ready. The log of a service on another host is there.
func (x *service) news(dir string, secrets []string, now time.Time) string {
	text := "not ready after " + quantity.ShortSeconds(now.Sub(x.started).Round(time.Second).Seconds())
	log, err := os.Open(filepath.Join(dir, x.log))
	if err != nil {
		return text
	}
	defer log.Close()
	lines := agent.Tail(log)
	if len(lines) == 0 {
		return text + "; it has printed nothing"
	}
	return fmt.Sprintf("%s; its last line: %s", text, agent.HiddenHere(secrets).Text(lines[len(lines)-1]))
}
