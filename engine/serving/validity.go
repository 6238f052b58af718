package serving

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/client"
	"github.com/weir-bench/weir/workload/serving/load"
)

// timerEvery is the period of the timer that measures how busy this client is by its lateness.
const timerEvery = 5 * time.Millisecond

// watching observes this process during the measurement.
type watching struct {
	begin  time.Time
	before time.Duration // CPU time
	end    chan struct{}
	late   chan []float64
}

func watchClient() *watching {
	w := &watching{begin: time.Now(), before: processorTime(), end: make(chan struct{}), late: make(chan []float64, 1)}
	go func() {
		var late []float64
		for next := time.Now().Add(timerEvery); ; next = next.Add(timerEvery) {
			select {
			case <-time.After(time.Until(next)):
			case <-w.end:
				w.late <- late
				return
			}
			by := time.Since(next)
			late = append(late, by.Seconds())
			if by > timerEvery { // missed ticks are dropped
				next = time.Now()
			}
		}
	}()
	return w
}

// stop returns the share of its processors that the process used, and the median and the 99th percentile of its timer's
// lateness, in s; none if it ended before the first tick.
func (w *watching) stop() (cpu float64, lateness []float64) {
	wall, used := time.Since(w.begin), processorTime()-w.before
	close(w.end)
	late := <-w.late
	cpu = used.Seconds() / (wall.Seconds() * float64(runtime.GOMAXPROCS(0)))
	if len(late) == 0 {
		return cpu, nil
	}
	slices.Sort(late)
	at := func(q results.Quantile) float64 { return late[results.NearestRank(int64(len(late)), q)-1] }
	return cpu, []float64{at(results.P50), at(results.P99)}
}

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// requestsOfFloor is the number of requests for the median of a client's floor, after some that open its connection.
const requestsOfFloor, beforeFloor = 51, 5

// floor returns the time to first token, in s, that a client with this configuration measures against a server in this
// process that answers at once.
func floor(ctx context.Context, with client.Config) (float64, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := &http.Server{
		Handler: http.HandlerFunc(answerAtOnce), ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	with.URL, with.CA, with.Stream, with.Proxy = "http://"+listener.Addr().String(), nil, true, false
	c, err := client.New(with)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	body := []byte(`{"stream":true}`)
	var took []float64
	for i := range beforeFloor + requestsOfFloor {
		rec := c.Send(ctx, &load.Request{Index: i, Due: load.Never}, body)
		if rec.Outcome != load.OK {
			return 0, fmt.Errorf("a request to this process: %s", rec.Error)
		}
		if i >= beforeFloor {
			took = append(took, float64(rec.First-rec.Start)*1e-9)
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func answerAtOnce(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"choices":[{"text":"x","delta":{"content":"x"},"finish_reason":"stop"}]}`+
		"\n\ndata: [DONE]\n\n")
}
