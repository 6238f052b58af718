package serving

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/quantity"
	"weir/serving/prompt"
	"weir/serving/schedule"
	"weir/workload"
)

const nothing = "{}"

// keys are the texts of a mapping by key.
type keys map[string]string

// flat reads a mapping of texts that has keys of its own; known nil: it may have any.
func flat(text string, known ...string) (keys, error) {
	s, err := workload.ReadStructure(text)
	if err != nil {
		return nil, err
	}
	if s.Pairs == nil {
		return nil, fmt.Errorf("it is %s, not a mapping of %s", s.What(), strings.Join(known, ", "))
	}
	all := keys{}
	for _, p := range s.Pairs {
		switch {
		case known != nil && !slices.Contains(known, p.Key):
			return nil, workload.UnknownKey([]string{p.Key}, known)
		case !p.Value.IsText():
			return nil, workload.Wrong([]string{p.Key}, "it is %s, not a text", p.Value.What())
		}
		all[p.Key] = p.Value.Text
	}
	return all, nil
}

// write writes those of the keys that have a text, in the order of the list.
func (k keys) write(order ...string) string {
	s := workload.Structured{Pairs: []workload.Pair{}}
	for _, name := range order {
		if k[name] != "" {
			s.Pairs = append(s.Pairs, workload.Pair{Key: name, Value: &workload.Structured{Text: k[name]}})
		}
	}
	return s.JSON()
}

func (k keys) bool(name string) (bool, error) {
	switch k[name] {
	case "", "false":
		delete(k, name)
		return false, nil
	case "true":
		return true, nil
	}
	return false, workload.Wrong([]string{name}, "%q is neither true nor false", k[name])
}

// time reads a time and writes it in one way; one that is otherwise is left out.
func (k keys) time(name string, otherwise time.Duration) (time.Duration, error) {
	if k[name] == "" {
		return otherwise, nil
	}
	d, err := quantity.ReadTime(k[name])
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is below zero", k[name])
	}
	if err != nil {
		return 0, workload.Wrong([]string{name}, "%w", err)
	}
	if k[name] = d.String(); time.Duration(d) == otherwise {
		delete(k, name)
	}
	return time.Duration(d), nil
}

func (k keys) count(name string, least int) (int, error) {
	if k[name] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(k[name])
	if err != nil || n < least || n > schedule.MostRequests {
		return 0, workload.Wrong([]string{name}, "%q is no whole number from %d to %d", k[name], least,
			schedule.MostRequests)
	}
	return n, nil
}

// Input says what prompts are made of.
type Input struct {
	Tokens prompt.Tokens
	IDs    bool
	Text   string
	Prefix prompt.Prefix
}

const tokensByDefault = "fixed:512"

var inputKeys = []string{"tokens", "text", "token_ids", "prefix"}

func readInput(text string) (in Input, k keys, err error) {
	if k, err = flat(text, inputKeys...); err != nil {
		return in, nil, err
	}
	in.Text = k["text"]
	tokens := k["tokens"]
	if tokens == "" && in.Text == "" {
		tokens = tokensByDefault
	}
	if tokens != "" {
		if in.Text != "" {
			return in, nil, workload.Wrong([]string{"tokens"}, "a text has the tokens that it has: give one of the two")
		}
		if in.Tokens, err = prompt.ParseTokens(tokens); err != nil {
			return in, nil, workload.Wrong([]string{"tokens"}, "%w", err)
		}
	}
	if k["tokens"] = in.Tokens.String(); k["tokens"] == tokensByDefault {
		delete(k, "tokens")
	}
	if in.IDs, err = k.bool("token_ids"); err != nil {
		return in, nil, err
	}
	if k["prefix"] == "" {
		k["prefix"] = prompt.Prefix{}.String()
	}
	if in.Prefix, err = prompt.ParsePrefix(k["prefix"]); err != nil {
		return in, nil, workload.Wrong([]string{"prefix"}, "%w", err)
	}
	if k["prefix"] = in.Prefix.String(); in.Prefix == (prompt.Prefix{}) {
		delete(k, "prefix")
	}
	return in, k, nil
}

func canonicalInput(text string) (string, error) {
	_, k, err := readInput(text)
	return k.write(inputKeys...), err
}

// Output says how many tokens are asked for.
type Output struct {
	Tokens prompt.Tokens
	Exact  bool
}

const outputByDefault = "fixed:128"

var outputKeys = []string{"tokens", "exact"}

func readOutput(text string) (out Output, k keys, err error) {
	if k, err = flat(text, outputKeys...); err != nil {
		return out, nil, err
	}
	if k["tokens"] == "" {
		k["tokens"] = outputByDefault
	}
	if out.Tokens, err = prompt.ParseTokens(k["tokens"]); err != nil {
		return out, nil, workload.Wrong([]string{"tokens"}, "%w", err)
	}
	if k["tokens"] = out.Tokens.String(); k["tokens"] == outputByDefault {
		delete(k, "tokens")
	}
	out.Exact, err = k.bool("exact")
	return out, k, err
}

func canonicalOutput(text string) (string, error) {
	_, k, err := readOutput(text)
	return k.write(outputKeys...), err
}

// Warmup is what is sent before the measured requests: so many waves of as many requests as are
// in flight together, so many requests, or for so long. One wave by default.
type Warmup struct {
	Waves, Requests int
	Time            time.Duration
}

var warmupKeys = []string{"waves", "requests", "time"}

func readWarmup(text string) (w Warmup, k keys, err error) {
	if k, err = flat(text, warmupKeys...); err != nil {
		return w, nil, err
	}
	if len(k) > 1 {
		return w, nil, fmt.Errorf("it is one of %s", strings.Join(warmupKeys, ", "))
	}
	if w.Waves, err = k.count("waves", 0); err != nil {
		return w, nil, err
	}
	if w.Requests, err = k.count("requests", 0); err != nil {
		return w, nil, err
	}
	if w.Time, err = k.time("time", 0); err != nil {
		return w, nil, err
	}
	if len(k) == 0 || k["waves"] == "1" {
		w.Waves = 1
		delete(k, "waves")
	}
	return w, k, nil
}

func canonicalWarmup(text string) (string, error) {
	_, k, err := readWarmup(text)
	return k.write(warmupKeys...), err
}

const readyWithin = 10 * time.Minute

var readyKeys = []string{"timeout"}

func readReady(text string) (within time.Duration, k keys, err error) {
	if k, err = flat(text, readyKeys...); err != nil {
		return 0, nil, err
	}
	within, err = k.time("timeout", readyWithin)
	if err == nil && within == 0 {
		err = workload.Wrong(readyKeys, "an endpoint that may take no time is never ready")
	}
	return within, k, err
}

func canonicalReady(text string) (string, error) {
	_, k, err := readReady(text)
	return k.write(readyKeys...), err
}

// Timeouts bound requests; 0: there is no bound.
type Timeouts struct{ Connect, First, Idle, Total time.Duration }

var timeoutKeys = []string{"connect", "first", "idle", "total"}

func readTimeout(text string) (t Timeouts, k keys, err error) {
	if k, err = flat(text, timeoutKeys...); err != nil {
		return t, nil, err
	}
	for _, f := range []struct {
		name      string
		to        *time.Duration
		otherwise time.Duration
	}{
		{"connect", &t.Connect, 10 * time.Second}, {"first", &t.First, 2 * time.Minute},
		{"idle", &t.Idle, time.Minute}, {"total", &t.Total, 10 * time.Minute},
	} {
		if *f.to, err = k.time(f.name, f.otherwise); err != nil {
			return t, nil, err
		}
	}
	return t, k, nil
}

func canonicalTimeout(text string) (string, error) {
	_, k, err := readTimeout(text)
	return k.write(timeoutKeys...), err
}

// SLO are promises about each request; 0: none.
type SLO struct{ TTFT, ITL, Latency time.Duration }

var sloKeys = []string{"ttft", "itl", "latency"}

func readSLO(text string) (s SLO, k keys, err error) {
	if k, err = flat(text, sloKeys...); err != nil {
		return s, nil, err
	}
	for name, to := range map[string]*time.Duration{"ttft": &s.TTFT, "itl": &s.ITL, "latency": &s.Latency} {
		if *to, err = k.time(name, 0); err != nil {
			return s, nil, err
		}
	}
	return s, k, nil
}

func canonicalSLO(text string) (string, error) {
	_, k, err := readSLO(text)
	return k.write(sloKeys...), err
}

// file is the content of a file that an option of type Data holds.
func file(text string) ([]byte, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the content of a file is in base64: %w", err)
	}
	return content, nil
}

// checked keeps the content of a file as it is, if it can be read.
func checked(text string, read func([]byte) error) (string, error) {
	if text == "" {
		return "", nil
	}
	content, err := file(text)
	if err == nil {
		err = read(content)
	}
	return text, err
}

func canonicalTrace(text string) (string, error) {
	return checked(text, func(content []byte) error {
		_, err := schedule.ReadTrace(content)
		return err
	})
}

func canonicalLines(text string) (string, error) {
	return checked(text, func(content []byte) error {
		_, err := prompt.ReadLines(content)
		return err
	})
}
