package serving

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// specOf decodes options as texts; url and model are given.
func specOf(t *testing.T, url string, texts map[string]string) *serving.Spec {
	t.Helper()
	all := map[string]any{"url": url, "model": "mock", "api": "completions", "output": `{"tokens":"3"}`}
	for name, text := range texts {
		all[name] = text
	}
	v, err := serving.Kind.Normalize(all)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serving.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// launch runs a case with all of its clients in this process, and returns their parts.
func launch(t *testing.T, s *serving.Spec, control *engine.Control) ([]*workload.Part, error) {
	t.Helper()
	c, err := engine.NewCase("case", s, 30*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	return launchCase(t, s, c, control)
}

func launchCase(t *testing.T, s *serving.Spec, c engine.Case, control *engine.Control) ([]*workload.Part, error) {
	t.Helper()
	var err error
	l := engine.Launch{ID: t.Name(), Index: 1, Ranks: s.Ranks, Cases: []engine.Case{c}}
	for range s.Ranks {
		l.Nodes = append(l.Nodes, "here")
	}
	ranks := make([]engine.Rank, s.Ranks)
	addresses := make([][]byte, s.Ranks)
	for i := range ranks {
		if ranks[i], err = (runner{}).Open(l, engine.Identity{Rank: i}, control); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = ranks[i].(engine.Peers).Address(); err != nil {
			t.Fatal(err)
		}
	}
	parts, wrong := make([]*workload.Part, s.Ranks), make([]error, s.Ranks)
	var all sync.WaitGroup
	for i, r := range ranks {
		all.Go(func() {
			if wrong[i] = r.(engine.Peers).Connect(addresses); wrong[i] != nil {
				return
			}
			parts[i], wrong[i] = r.Run(c)
		})
	}
	all.Wait()
	for _, r := range ranks {
		r.Close()
	}
	return parts, errors.Join(wrong...)
}

// The timeout of a case counts from when the endpoint is ready, also in the first case, which may wait for that much
// longer; the requests until then are kept. An error of another kind stays what it is.
func TestTheTimeoutCountsFromReady(t *testing.T) {
	s := testserver.New(t, steady)
	spec := specOf(t, s.URL, map[string]string{"concurrency": "1", "requests": "100000"})
	c, err := engine.NewCase("case", spec, 500*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Before = int64(10 * time.Minute)
	begin := time.Now()
	parts, err := launchCase(t, spec, c, &engine.Control{})
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Code != -int(syscall.ETIMEDOUT) || e.Text != "timeout after 500ms" || e.Phase != "run" {
		t.Errorf("%#v", err)
	}
	if took := time.Since(begin); took > time.Minute || len(parts) != 1 || parts[0] == nil || !parts[0].Unfinished {
		t.Errorf("%v after %v", parts, took)
	}

	short := specOf(t, s.URL, map[string]string{"concurrency": "1", "requests": "3"})
	if c, err = engine.NewCase("case", short, 20*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	c.Before = int64(10 * time.Minute)
	if _, err := launchCase(t, short, c, &engine.Control{}); err != nil {
		t.Error(err)
	}
}

// launchOf is a launch of one case, as an agent has it.
func launchOf(t *testing.T, s *serving.Spec) engine.Launch {
	t.Helper()
	c, err := engine.NewCase("case", s, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Launch{Runner: serving.Runner, Ranks: s.Ranks, Cases: []engine.Case{c}}
}

// measured returns the records of all clients of the measured part, and the facts of client 0.
func measured(t *testing.T, parts []*workload.Part) (list []load.Record, facts serving.Facts) {
	t.Helper()
	var samples [][]byte
	for _, p := range parts {
		samples = append(samples, p.Samples)
	}
	all, err := serving.Records(samples)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(parts[0].Facts, &facts); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(r load.Record) bool { return r.Phase != load.Measured }), facts
}

func steady(a *testserver.Answer) { a.Steady(3, 5*time.Millisecond, time.Millisecond) }

// Clients share the requests of a closed load: each is sent once, all differ, and no more are in flight than requested.
func TestClientsShareAClosedLoad(t *testing.T) {
	s := testserver.New(t, steady)
	parts, err := launch(t, specOf(t, s.URL, map[string]string{"concurrency": "5", "requests": "40", "ranks": "2"}),
		&engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	seen := map[int]bool{}
	for _, r := range records {
		if r.Outcome != load.OK || seen[r.Index] {
			t.Errorf("%+v", r)
		}
		seen[r.Index] = true
	}
	prompts := map[string]bool{}
	for _, a := range s.Requests() {
		text, _ := a.Body["prompt"].(string)
		if prompts[text] {
			t.Errorf("a prompt was sent twice: %.60s", text)
		}
		prompts[text] = true
	}
	// one readiness request, two to calibrate, a wave, and the measured ones
	if want := 1 + 2 + 5 + 40; len(records) != 40 || len(prompts) != want || s.MostInFlight.Load() != 5 {
		t.Errorf("%d records, %d prompts instead of %d, %d in flight", len(records), len(prompts), want,
			s.MostInFlight.Load())
	}
	if !(facts.CPU > 0) || len(facts.Lateness) != 2 || !(facts.Floor > 0) || facts.Endpoint != s.URL {
		t.Errorf("%+v", facts)
	}
}

// Requests of an open load are sent on schedule, even while the server stalls; users' latency counts from the schedule.
func TestOpenLoadCountsFromSchedule(t *testing.T) {
	var mu sync.Mutex
	var stands time.Time // the first measured request stalls the server until then
	s := testserver.New(t, func(a *testserver.Answer) {
		mu.Lock()
		if n, ok := a.Body["max_tokens"].(float64); ok && n == 4 && stands.IsZero() {
			stands = time.Now().Add(time.Second)
		}
		until := stands
		mu.Unlock()
		time.Sleep(time.Until(until))
		steady(a)
	})
	spec := specOf(t, s.URL, map[string]string{
		"rate": "50/s", "requests": "100", "max_in_flight": "1", "ranks": "1", "warmup": `{"waves":"0"}`,
		"output": `{"tokens":"4"}`,
	})
	parts, err := launch(t, spec, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, _ := measured(t, parts)
	m := serving.Summarize(spec, records)
	if len(records) != 100 || m["scheduled.ttft.p99"] < 0.9 || m["scheduled.ttft.p90"] < 0.5 ||
		m["scheduled.ttft.p90"] < 3*m["ttft.p50"] {
		t.Errorf("%d records, %v due, %v sent", len(records), m["scheduled.ttft.p90"], m["ttft.p50"])
	}
	for _, r := range records {
		if r.Start < r.Due {
			t.Errorf("sent before it was due: %+v", r)
		}
	}
}

// Scheduled requests that the end of the load cuts off are errors, not absent.
func TestNoRequestOfAnOpenLoadIsDropped(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(3, 100*time.Millisecond, 0) })
	spec := specOf(t, s.URL, map[string]string{
		"rate": "100/s", "duration": "500ms", "max_in_flight": "1", "grace": "100ms", "warmup": `{"waves":"0"}`,
	})
	parts, err := launch(t, spec, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	m := serving.Summarize(spec, records)
	if len(records) != 50 || m["requests"] != 50 || m["error_rate"] < 0.5 || len(facts.Errors) == 0 {
		t.Errorf("%d records, %v, %v", len(records), m["error_rate"], facts.Errors)
	}
	const unsent = "never sent: max_in_flight 1 requests were in flight"
	if first := facts.Errors[0]; first.Text != unsent || first.Count < 25 {
		t.Errorf("%+v", facts.Errors)
	}
}

// A stopped client reports it, and leaves the completed requests.
func TestStoppedLoadLeavesCompletedRequests(t *testing.T) {
	var control engine.Control
	var answered atomic.Int32
	s := testserver.New(t, func(a *testserver.Answer) {
		if n := answered.Add(1); n == 30 {
			control.Abort.Store(1)
		} else if n > 30 {
			time.Sleep(time.Second)
		}
		a.Steady(3, 0, 0)
	})
	options := map[string]string{"requests": "1000", "concurrency": "2", "warmup": `{"waves":"0"}`}
	begin := time.Now()
	parts, err := launch(t, specOf(t, s.URL, options), &control)
	if err == nil || !strings.Contains(err.Error(), "told to stop") || time.Since(begin) > 900*time.Millisecond {
		t.Fatalf("%v after %v", err, time.Since(begin))
	}
	if parts[0] == nil || !parts[0].Unfinished {
		t.Fatalf("%+v", parts)
	}
	records, _ := measured(t, parts)
	if len(records) < 15 || slices.ContainsFunc(records, func(r load.Record) bool { return r.Outcome != load.OK }) {
		t.Errorf("%d records: %+v", len(records), records)
	}
	u, _ := workload.As[workload.PartialSummarizer]("serving")
	said, err := u.Unfinished(specOf(t, s.URL, options), [][]byte{parts[0].Samples})
	if want := fmt.Sprintf("%d requests had ended", len(records)); err != nil || !strings.Contains(said, want) ||
		!strings.Contains(said, "ttft.p50 ") || !strings.Contains(said, "not judged") {
		t.Errorf("%v: %s", err, said)
	}
}

// A starting endpoint is waited for; a refusing one is an error.
func TestReady(t *testing.T) {
	var mu sync.Mutex
	left := 3
	s := testserver.New(t, func(a *testserver.Answer) {
		mu.Lock()
		defer mu.Unlock()
		if left--; left >= 0 {
			a.Head(http.StatusNotFound, "text/plain")
			a.Raw("the model is loading")
			return
		}
		steady(a)
	})
	parts, err := launch(t, specOf(t, s.URL, map[string]string{"requests": "2"}), &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	if _, facts := measured(t, parts); facts.Ready < 3*firstWait.Seconds() {
		t.Errorf("%+v", facts)
	}
	for name, c := range map[string]struct {
		answer func(*testserver.Answer)
		want   string
	}{
		"refused": {func(a *testserver.Answer) {
			a.Head(http.StatusUnauthorized, "text/plain")
			a.Raw("who are you?")
		}, "refuses requests of model mock: 401 Unauthorized: who are you?"},
		"elsewhere": {func(a *testserver.Answer) {
			a.Header("Location", "https://x.example/")
			a.Head(http.StatusPermanentRedirect, "text/plain")
		}, "refuses requests of model mock: 308 Permanent Redirect to https://x.example/, which is not followed"},
		"silent": {func(*testserver.Answer) { time.Sleep(500 * time.Millisecond) }, "allows more): no answer came"},
		"no output": {func(a *testserver.Answer) {
			a.Stream()
			time.Sleep(500 * time.Millisecond)
		}, "had no output yet"},
		"never": {func(a *testserver.Answer) {
			a.Head(http.StatusServiceUnavailable, "text/plain")
			a.Raw("not yet")
		}, "was not ready within 300ms (ready: {timeout: …} allows more): 503 Service Unavailable: not yet"},
	} {
		s := testserver.New(t, c.answer)
		_, err := launch(t, specOf(t, s.URL, map[string]string{"requests": "2", "ready": `{"timeout":"300ms"}`}),
			&engine.Control{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// An endpoint that weir does not start must accept connections before it may take its time to be ready.
func TestUnconnected(t *testing.T) {
	s := testserver.New(t, steady)
	s.Close()
	spec := specOf(t, s.URL, map[string]string{"requests": "2"})
	if spec.Unconnected != 15*time.Second {
		t.Errorf("may refuse connections for %v", spec.Unconnected)
	}
	spec.Unconnected = 300 * time.Millisecond
	control := &engine.Control{}
	_, err := launch(t, spec, control)
	if want := "no connection within 300ms"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if phase := engine.PhaseName(control.Phase.Load()); phase != "ready" {
		t.Errorf("it waited in phase %s", phase)
	}
	for _, status := range []int{http.StatusOK, http.StatusFound, http.StatusTemporaryRedirect} {
		page := testserver.New(t, func(a *testserver.Answer) {
			a.Head(status, "text/html")
			a.Raw("<html>")
		})
		spec = specOf(t, page.URL, map[string]string{"requests": "2"})
		spec.Strange = 300 * time.Millisecond
		_, err = launch(t, spec, &engine.Control{})
		if want := "no answer that is understood within 300ms"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: got %v, want %q", status, err, want)
		}
	}
	for url, said := range map[string]string{s.URL: "refused", "http://no-such-host.invalid": "no-such-host.invalid"} {
		spec = specOf(t, url, map[string]string{"requests": "2", "ready": `{"timeout":"20m","connect":"300ms"}`})
		_, err = launch(t, spec, &engine.Control{})
		if err == nil || !strings.Contains(err.Error(), "no connection within 300ms") ||
			!strings.Contains(err.Error(), said) {
			t.Errorf("%s: got %v", url, err)
		}
	}
	spec = specOf(t, s.URL, map[string]string{"requests": "2", "ready": `{"timeout":"20m"}`})
	if spec.Unconnected != 0 || spec.Strange != 0 {
		t.Errorf("may refuse connections for %v, and be strange for %v, although it may take 20 minutes to be ready",
			spec.Unconnected, spec.Strange)
	}
}

// A search finds the load that a server sustains: here eight requests at a time.
func TestSearch(t *testing.T) {
	var s *testserver.Server
	s = testserver.New(t, func(a *testserver.Answer) {
		if s.InFlight.Load() > 8 {
			a.Head(http.StatusTooManyRequests, "text/plain")
			return
		}
		a.Steady(2, 30*time.Millisecond, 0)
	})
	spec := specOf(t, s.URL, map[string]string{
		"search":   `{"axis":"concurrency","from":"2","to":"64","promise":"error_rate <= 0%"}`,
		"requests": "24", "ranks": "2", "warmup": `{"waves":"0"}`,
	})
	parts, err := launch(t, spec, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	if facts.Found == nil || *facts.Found != 8 || facts.Load != 8 || len(records) != 24 {
		t.Errorf("found %v, %d records of %v", *facts.Found, len(records), facts.Load)
	}
	note := facts.Notes[0].Text
	if !strings.HasPrefix(note, "found.concurrency is 8: at concurrency 9 error_rate is ") ||
		!strings.HasSuffix(note, ", promised <= 0%") {
		t.Error("the note is", note)
	}
}

// A search has a note of what ended it: what its only level missed, what the next one missed, or its own bound.
func TestSearchSaysWhatEndedIt(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(2, time.Millisecond, time.Millisecond) })
	for promise, want := range map[string]string{
		"requests <= 5": "found.concurrency is 0: at concurrency 2, the lowest and the only one tried, requests is 24.00, " +
			"promised <= 5; the case has the numbers of this level",
		"requests <= 24": "found.concurrency is 12: at concurrency 13 requests is 26.00, promised <= 24",
		"requests <= 99": "found.concurrency is 16, the highest of the search, so the limit is not known: set a higher value of to",
	} {
		spec := specOf(t, s.URL, map[string]string{
			"search":   `{"axis":"concurrency","from":"2","to":"16","promise":"` + promise + `"}`,
			"requests": "24", "ranks": "2", "warmup": `{"waves":"0"}`,
		})
		parts, err := launch(t, spec, &engine.Control{})
		if err != nil {
			t.Fatal(err)
		}
		_, facts := measured(t, parts)
		if len(facts.Notes) == 0 || facts.Notes[0].Text != want { // a busy host may have others
			t.Errorf("%s: found %v, notes %v", promise, *facts.Found, facts.Notes)
		}
	}
}

// A search by rate finds the highest one that meets the condition. Half a second of a rate has half as many requests,
// however busy the machine is: 30 are those of 60/s.
func TestSearchByRate(t *testing.T) {
	s := testserver.New(t, steady)
	spec := specOf(t, s.URL, map[string]string{
		"search":   `{"axis":"rate","from":"20/s","to":"2000/s","promise":"requests <= 30 && error_rate <= 90%"}`,
		"duration": "500ms", "ranks": "2", "warmup": `{"waves":"0"}`,
	})
	parts, err := launch(t, spec, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	if facts.Found == nil || *facts.Found < 57 || *facts.Found > 60 || math.Abs(facts.Load-*facts.Found) > 0.01 {
		t.Errorf("found %v, of %v", *facts.Found, facts.Load)
	}
	if n := serving.Summarize(spec, records)["requests"]; n < 29 || n > 30 {
		t.Errorf("the load that was found has %v requests", n)
	}
}

// A stopped rank ends at once, with the cause.
func TestStop(t *testing.T) {
	s := testserver.New(t, func(a *testserver.Answer) { a.Steady(1000, 0, 20*time.Millisecond) })
	control := &engine.Control{}
	time.AfterFunc(300*time.Millisecond, func() { control.Abort.Store(1) })
	_, err := launch(t, specOf(t, s.URL, map[string]string{"requests": "50", "concurrency": "4"}), control)
	if err == nil || !strings.Contains(err.Error(), "told to stop") {
		t.Errorf("%v", err)
	}
}

// Tokens of answers without usage are counted by the server's tokenizer on request, if they have nothing but content.
func TestTokenizer(t *testing.T) {
	var thinks atomic.Bool
	s := testserver.New(t, func(a *testserver.Answer) {
		if a.Path == "/tokenize" {
			text, _ := a.Body["prompt"].(string)
			a.Head(http.StatusOK, "application/json")
			a.Raw(fmt.Sprintf(`{"count":%d,"max_model_len":100}`, 10*len(text)))
			return
		}
		a.Stream()
		if thinks.Load() {
			a.Event(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`)
		}
		a.Token("x")
		a.Token("x")
		a.Event("[DONE]")
	})
	for name, want := range map[string]struct {
		tokens int
		source load.TokenSource
	}{"usage": {2, load.ByEvents}, "endpoint": {20, load.ByTokenizer}, "endpoint ": {3, load.ByEvents}} {
		name, thought := strings.CutSuffix(name, " ")
		thinks.Store(thought)
		parts, err := launch(
			t,
			specOf(t, s.URL, map[string]string{"requests": "3", "tokenizer": name}),
			&engine.Control{},
		)
		if err != nil {
			t.Fatal(err)
		}
		records, _ := measured(t, parts)
		for _, r := range records {
			if r.Output != want.tokens || r.Source != want.source {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// A header has the value of a variable of the client's environment.
func TestHeaders(t *testing.T) {
	t.Setenv("WEIR_TEST_KEY", "secret")
	var mu sync.Mutex
	var received []string
	s := testserver.Unstarted(steady)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		received = append(received, r.Header.Get("Authorization"))
		mu.Unlock()
		inner.ServeHTTP(w, r)
	})
	s.Start()
	defer s.Close()
	options := map[string]string{"requests": "2", "headers": `{"Authorization":"Bearer ${client.env.WEIR_TEST_KEY}"}`}
	if _, err := launch(t, specOf(t, s.URL, options), &engine.Control{}); err != nil {
		t.Fatal(err)
	}
	if names, err := engine.RevealedBy(launchOf(t, specOf(t, s.URL, options))); err != nil ||
		!slices.Equal(names, []string{"WEIR_TEST_KEY"}) {
		t.Errorf("agents hear that %q are sent, %v", names, err)
	}
	if len(received) == 0 || slices.ContainsFunc(received, func(h string) bool { return h != "Bearer secret" }) {
		t.Errorf("%q", received)
	}
	options["headers"] = `{"Authorization":"Bearer ${client.env.WEIR_NO_SUCH}"}`
	if _, err := launch(t, specOf(t, s.URL, options), &engine.Control{}); err == nil ||
		!strings.Contains(err.Error(), "is not set in the environment of the client") {
		t.Errorf("%v", err)
	}
}
