package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/stream"
)

// attackedVariable makes this program the client of a hostile server: its value is an attacked in JSON.
const attackedVariable = "WEIR_TEST_ATTACKED"

// attacked is a client of 16 streams.
type attacked struct {
	URL    string
	Stream bool
	HTTP2  bool
	Text   int
}

// Limits of a request and of the load. The first requests reach theirs before the load ends.
const attackedFor, attackedUntil = 1500 * time.Millisecond, 2 * time.Second

// outcome has the results of its requests.
type outcome struct {
	Peak     float64 // bytes of memory
	Outcomes map[string]int
}

func (a attacked) run() (s outcome, err error) {
	c, err := New(Config{URL: a.URL, Stream: a.Stream, HTTP2: a.HTTP2, Total: attackedFor})
	if err != nil {
		return s, err
	}
	s.Outcomes = map[string]int{}
	turns := conversations(10_000, func(_ int, q *load.Request) { q.Text = a.Text })
	records := gather(context.Background(), c, Load{Next: Each(turns), Slots: 16, Until: attackedUntil.Nanoseconds()})
	for _, r := range records {
		s.Outcomes[fmt.Sprintf("%d %s", r.Outcome, r.Error)]++
	}
	s.Peak, err = peakMemory()
	return s, err
}

// runHostile runs the client in this process, and prints the results.
func runHostile(text string) {
	log.SetOutput(io.Discard) // net/http2 tells each wrong frame
	var a attacked
	err := json.Unmarshal([]byte(text), &a)
	var s outcome
	if err == nil {
		s, err = a.run()
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

// underAttack runs the client in a process of its own.
func underAttack(t *testing.T, a attacked) (s outcome) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), attackedVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// endless writes a head and a beginning, and then a text repeatedly, until the client closes the connection.
func endless(head, begin, text string) func(*testserver.Answer) {
	return func(a *testserver.Answer) {
		a.Bare(func(conn net.Conn) {
			_, err := io.WriteString(conn, head+begin)
			for block := []byte(strings.Repeat(text, 1+(64<<10)/len(text))); err == nil; {
				_, err = conn.Write(block)
			}
		})
	}
}

// bomb is a member of gzip in 64 KiB, which may be followed by others.
func bomb(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for block := strings.Repeat(text, 1+(64<<10)/len(text)); b.Len() < 64<<10; {
		_, _ = io.WriteString(z, block)
	}
	_ = z.Close()
	return b.String()
}

// A client of 16 streams needs at most 200 MB against any server.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	const (
		head   = "HTTP/1.1 200 OK\r\n"
		events = head + "Content-Type: text/event-stream\r\n"
		packed = events + "Content-Encoding: gzip\r\n\r\n"
		whole  = head + "Content-Type: application/json\r\n\r\n"
		tiny   = `data: {"choices":[{"text":"x"}]}` + "\n\n"
		chunks = "Transfer-Encoding: chunked\r\n\r\n"
	)
	large := `data: {"choices":[{"delta":{"content":"` + strings.Repeat("x", 900<<10) + `"}}]}` + "\n\n"
	list := `data: {"choices":[{"delta":{"not_known":[` + strings.Repeat(`{"a":"x"},`, 90<<10) + `1]}}]}` + "\n\n"
	for name, c := range map[string]struct {
		script func(*testserver.Answer)
		whole  bool
		text   int
	}{
		"large deltas":               {script: endless(events, "\r\n", large)},
		"large deltas that are kept": {script: endless(events, "\r\n", large), text: MaxText},
		"large lists":                {script: endless(events, "\r\n", list)},
		"tiny deltas":                {script: endless(events, "\r\n", tiny)},
		"tiny deltas that are kept":  {script: endless(events, "\r\n", tiny), text: MaxText},
		"heads":                      {script: endless(head, "", "X-Field: "+strings.Repeat("y", 1000)+"\r\n")},
		"a long field of a head":     {script: endless(head, "X: ", "y")},
		"comments":                   {script: endless(events, "\r\n", ": "+strings.Repeat("x", 1000)+"\n")},
		"names of events":            {script: endless(events, "\r\n", "event: "+strings.Repeat("x", 1000)+"\n")},
		"a line":                     {script: endless(events, "\r\ndata: ", "x")},
		"an event of many lines":     {script: endless(events, "\r\n", "data: x\n")},
		"an extension of a chunk":    {script: endless(events, chunks+"5;", "x")},
		"extensions of chunks":       {script: endless(events, chunks, "1;"+strings.Repeat("x", 1000)+"\r\n\n\r\n")},
		"a trailer":                  {script: endless(events, chunks+"0\r\n", "X: y\r\n")},
		"bombs of events":            {script: endless(packed, "", bomb(tiny))},
		"bombs of nothing":           {script: endless(packed, "", bomb("\n"))},
		"packed nothing":             {script: endless(packed, "", strings.Join(zipped(), ""))},
		"a text":                     {script: endless(whole, `{"choices":[{"text":"`, "x"), whole: true},
		"choices": {
			script: endless(whole, `{"choices":[`, `{"text":"x"},`), whole: true, text: MaxText,
		},
		"brackets":  {script: endless(whole, `{"a":`, "["), whole: true},
		"members":   {script: endless(whole, "{", `"a":{},`), whole: true},
		"blanks":    {script: endless(whole, "{", " "), whole: true},
		"a refusal": {script: endless("HTTP/1.1 500 No\r\n\r\n", "", "x")},
	} {
		t.Run(name, func(t *testing.T) {
			s := testserver.New(t, c.script)
			got := underAttack(t, attacked{URL: s.URL, Stream: !c.whole, Text: c.text})
			t.Logf("%.0f MB, %v", got.Peak/1e6, got.Outcomes)
			if got.Peak > 200e6 {
				t.Errorf("the client has %.0f MB", got.Peak/1e6)
			}
			for outcome := range got.Outcomes {
				if strings.HasPrefix(outcome, fmt.Sprintf("%d ", load.OK)) {
					t.Error("an answer without an end is a success")
				}
			}
		})
	}
}

// Answers that exceed their limits fail, and are not kept.
func TestAnswersOverTheirBounds(t *testing.T) {
	rec := send(t, Config{Stream: true, Events: 3}, request(0), func(a *testserver.Answer) { a.Steady(4, 0, 0) })
	if rec.Outcome != load.Malformed || rec.Events != nil ||
		rec.Error != "the answer has more than 3 events with output, the limit of max_answer" {
		t.Errorf("%+v", rec)
	}
	const many = maxOfFailed + 100
	rec = send(t, Config{Stream: true}, request(0), func(a *testserver.Answer) {
		a.Stream()
		a.Raw(strings.Repeat(`data: {"choices":[{"text":"x"}]}`+"\n\n", many))
		a.Event(`{"error":"no"}`)
	})
	if rec.Outcome != load.Status || len(rec.Events) != maxOfFailed {
		t.Errorf("%d events of an answer that failed are kept", len(rec.Events))
	}
	rec = send(t, Config{Stream: true, Bytes: 50}, request(0), func(a *testserver.Answer) { a.Steady(4, 0, 0) })
	if rec.Outcome != load.Malformed || rec.Error != "the answer is longer than 50B, the limit of max_answer" {
		t.Errorf("%+v", rec)
	}
	cfg := newClient(t, Config{URL: "http://a"}).cfg
	if cfg.Bytes != stream.MaxBytes || cfg.Events != stream.MaxEvents {
		t.Errorf("%+v", cfg)
	}
}
