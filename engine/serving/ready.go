package serving

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	load "weir/serving"
	"weir/serving/client"
	"weir/serving/prompt"
)

// Waits between two attempts of an endpoint that is not ready.
const (
	firstWait = 50 * time.Millisecond
	mostWait  = 2 * time.Second
)

// refused are statuses that waiting does not change.
var refused = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
	http.StatusUnprocessableEntity,
}

// wordsOfReady are those of the request that asks whether the endpoint answers.
const wordsOfReady = 8

// awaitReady asks the endpoint until it answers a request, as long as it may take.
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
	within := k.spec.ReadyWithin()
	ctx, cancel := context.WithTimeout(k.ctx, within)
	defer cancel()
	begin := time.Now()
	wait, said := firstWait, ""
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
			why = cmp.Or(said, "its answer did not end")
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
		case rec.Outcome == load.Status && slices.Contains(refused, rec.Status):
			return 0, fmt.Errorf("%s refuses requests of model %s: %s", k.with.URL, k.spec.Model, why)
		}
		if why != said {
			said = why
			fmt.Fprintf(os.Stderr, "%s is not ready: %s\n", k.with.URL, why)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, mostWait)
	}
}

// wordsOfProbes are two lengths, of which the tokens of a word and of the rest follow.
var wordsOfProbes = []int{16, 256}

// attempts are how often the server is asked how many tokens words are.
const attempts = 3

// calibrate asks the server how many tokens words are. A server that does not say leaves what is
// assumed.
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
				continue // a server that is not well yet
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
	if err != nil { // the server counts something else: say nothing of it
		return prompt.Uncalibrated, nil
	}
	return words, nil
}

// prepare has the endpoint ready and knows what its tokens are.
func (k *run) prepare() error {
	var mine told
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
	k.rank.ready = true
	k.words, k.facts.Ready = all.Words, all.Ready
	k.facts.PerWord, k.facts.Calibrated = all.Words.PerWord, all.Words != prompt.Uncalibrated
	return nil
}
