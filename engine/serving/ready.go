package serving

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/serving/client"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/prompt"
)

// Pauses between attempts at an endpoint that is not ready.
const (
	firstWait = 50 * time.Millisecond
	maxWait   = 2 * time.Second
)

// refused are statuses that do not change with time.
var refused = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
	http.StatusUnprocessableEntity, http.StatusMovedPermanently, http.StatusPermanentRedirect,
}

// notUnderstood are outcomes of endpoints that answer in another form. So do those that point elsewhere.
var notUnderstood = []load.Outcome{load.Malformed, load.Truncated, load.Empty}

// wordsOfReady is the length of the request that polls the endpoint.
const wordsOfReady = 8

// awaitReady polls the endpoint until it answers a request, within its time limit.
func (k *run) awaitReady() (seconds float64, err error) {
	set, err := k.prompts(0)
	if err != nil {
		return 0, err
	}
	patient := k.with // a first request may compile kernels for minutes
	patient.First, patient.Idle, patient.Total = 0, 0, 0
	c, err := client.New(patient)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	within := k.spec.Ready.Timeout
	ctx, cancel := context.WithTimeout(k.ctx, within)
	defer cancel()
	begin := time.Now()
	wait, said, connected := firstWait, "", false
	for i := 0; ; i++ {
		q := set.Probe(i, wordsOfReady)
		rec := c.Send(ctx, &q, q.Body)
		if ctx.Err() == nil || rec.Outcome == load.OK {
			k.ready = append(k.ready, *rec)
		}
		if rec.Outcome == load.OK {
			return time.Since(begin).Seconds(), nil
		}
		why := rec.Error
		if ctx.Err() != nil && why == "" {
			why = cmp.Or(said, unfinished(rec))
		}
		switch {
		case k.ctx.Err() != nil:
			return 0, context.Cause(k.ctx)
		case ctx.Err() != nil:
			return 0, fmt.Errorf(
				"%s was not ready within %v (ready: {timeout: …} allows more): %s",
				k.with.URL,
				within,
				why,
			)
		}
		connected = connected || rec.Outcome != load.Connect
		if err := k.neverReady(rec, connected, time.Since(begin)); err != nil {
			return 0, err
		}
		if why != said {
			said = why
			fmt.Fprintf(os.Stderr, "%s is not ready: %s\n", k.with.URL, why)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, maxWait)
	}
}

// unfinished says how far a request came until its time was over.
func unfinished(rec *load.Record) string {
	switch int64(load.Never) {
	case rec.Connected:
		return "no connection was made"
	case rec.Headers:
		return "no answer came"
	case rec.First:
		return "its answer had no output yet"
	}
	return "its answer did not end"
}

// neverReady is an error if waiting longer cannot help after an answer; nil: it may.
func (k *run) neverReady(rec *load.Record, connected bool, waited time.Duration) error {
	switch most, strange := k.spec.Unconnected, k.spec.Strange; {
	case rec.Outcome == load.Status && slices.Contains(refused, rec.Status):
		return fmt.Errorf("%s refuses requests of model %s: %s", k.with.URL, k.spec.Model, rec.Error)
	case !connected && most > 0 && waited >= most:
		return fmt.Errorf("%s: no connection within %v (ready: {connect: …} allows more): %s", k.with.URL, most,
			rec.Error)
	case (slices.Contains(notUnderstood, rec.Outcome) || rec.Status/100 == 3) && strange > 0 && waited >= strange:
		return fmt.Errorf("%s: no answer that is understood within %v (ready: {timeout: …} allows more): %s",
			k.with.URL, strange, rec.Error)
	}
	return nil
}

// wordsOfProbes are two lengths, which determine the tokens per word and of the rest.
var wordsOfProbes = []int{16, 256}

// attempts is the number of requests to count tokens.
const attempts = 3

// calibrate determines the tokens of words by requests. If the server does not report usage, the default stays.
func (k *run) calibrate() (prompt.Calibration, error) {
	if !k.spec.Counted() {
		return prompt.Uncalibrated, nil
	}
	set, err := k.prompts(0)
	if err != nil {
		return prompt.Calibration{}, err
	}
	c, err := client.New(k.with)
	if err != nil {
		return prompt.Calibration{}, err
	}
	defer c.Close()
	var probes []prompt.Probe
	for i, words := range wordsOfProbes {
		for attempt := range attempts {
			q := set.Probe(1<<20+attempts*i+attempt, words)
			rec := c.Send(k.ctx, &q, q.Body)
			if rec.Outcome != load.OK {
				continue // the server is not stable yet
			}
			if rec.Source == load.ByUsage && rec.Input > 0 {
				probes = append(probes, prompt.Probe{Words: words, Tokens: rec.Input})
			}
			break
		}
	}
	if len(probes) < len(wordsOfProbes) {
		return prompt.Uncalibrated, context.Cause(k.ctx)
	}
	words, err := prompt.Calibrate(probes)
	if err != nil { // the server counts something else: ignore it
		return prompt.Uncalibrated, nil
	}
	return words, nil
}

// prepare waits for the endpoint and calibrates the tokens of words.
func (k *run) prepare() error {
	k.control.Phase.Store(engine.PhaseReady)
	var mine endpoint
	var err error
	if k.self == 0 {
		if !k.rank.ready {
			if mine.Ready, err = k.awaitReady(); err != nil {
				return err
			}
		}
		if mine.Words, err = k.calibrate(); err != nil {
			return err
		}
	}
	all, err := k.agree(mine)
	if err != nil {
		return err
	}
	k.control.Phase.Store(engine.PhaseWarmup)
	k.rank.ready = true
	k.words, k.facts.Ready = all.Words, all.Ready
	k.facts.PerWord, k.facts.Calibrated = all.Words.PerWord, all.Words != prompt.Uncalibrated
	return nil
}
