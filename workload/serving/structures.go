package serving

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload/serving/prompt"
	"github.com/weir-bench/weir/workload/serving/schedule"
	"github.com/weir-bench/weir/workload/serving/stream"
)

const nothing = "{}"

// texts is the codec of mappings with unchanged texts.
var texts structure.Codec

// read decodes the JSON of a mapping into a struct with the defaults.
func read(text string, into any) error {
	v, err := structure.Read(text)
	if err != nil {
		return err
	}
	return texts.Decode(v, into)
}

// structured is an option that is decoded into a struct. usual is the value of "{}".
func structured[T any](name string, usual T) option.Option {
	canonical := func(text string) (string, error) {
		value := usual
		if err := read(text, &value); err != nil {
			return "", err
		}
		return texts.Encode(value, usual).JSON(), nil
	}
	return option.Option{Name: name, Type: option.Structure, Default: nothing, Read: canonical}
}

// short marks an option with the key that a scalar stands for.
func short(o option.Option, key string) option.Option {
	o.Forms.Short = key
	return o
}

// moved marks an option with keys that are options of their own now.
func moved(o option.Option, keys map[string]string) option.Option {
	o.Forms.Moved = keys
	return o
}

// Input describes the content of prompts.
type Input struct {
	Tokens prompt.Tokens `key:"tokens"`
	Text   string        `key:"text"`
	IDs    bool          `key:"token_ids"`
	Prefix prompt.Prefix `key:"prefix"`
}

// tokens parses a constant distribution.
func tokens(text string) prompt.Tokens {
	t, err := prompt.ParseTokens(text)
	if err != nil {
		panic(err)
	}
	return t
}

var defaultInput = Input{Tokens: tokens("fixed:512")}

// inputOf reads the value of option input, which has been validated.
func inputOf(text string) Input {
	in := defaultInput
	_ = read(text, &in)
	return in
}

// Check rejects a number of tokens for a given text.
func (in *Input) Check(d *structure.Decoder) {
	if in.Text == "" {
		return
	}
	if d.Given("tokens") {
		d.At("tokens").Fail("a text has its own number of tokens: give only one of the two")
	}
	in.Tokens = prompt.Tokens{}
}

// Output describes the requested tokens.
type Output struct {
	Tokens prompt.Tokens `key:"tokens"`
	Exact  bool          `key:"exact"`
}

var defaultOutput = Output{Tokens: tokens("fixed:128")}

// Warmup are the requests before the measured ones: a number of waves (the requests in flight together), a number of
// requests, or a time.
type Warmup struct {
	Waves    int           `key:"waves,max=4194304"`
	Requests int           `key:"requests,max=4194304"`
	Time     time.Duration `key:"time,zero"`
}

var defaultWarmup = Warmup{Waves: 1}

// warmup is option warmup. A number of requests, or a time, replaces the default wave.
func warmup() option.Option {
	o := structured("warmup", defaultWarmup)
	canonical := o.Read
	o.Read = func(text string) (string, error) {
		w := defaultWarmup
		if err := read(text, &w); err != nil || w.Requests == 0 && w.Time == 0 {
			out, _ := canonical(text)
			return out, err
		}
		return texts.Encode(w, Warmup{}).JSON(), nil
	}
	return o
}

// Check accepts only one of the keys.
func (w *Warmup) Check(d *structure.Decoder) {
	switch given := d.Keys(); {
	case given > 1:
		d.Fail("it is one of waves, requests, time")
	case given == 1 && !d.Given("waves"):
		w.Waves = 0
	}
}

// Ready are the time limits until an endpoint answers, and until one that weir does not start accepts connections; 0:
// maxUnconnected, or Timeout if that is not the default.
type Ready struct {
	Timeout time.Duration `key:"timeout"`
	Connect time.Duration `key:"connect"`
}

var defaultReady = Ready{Timeout: 10 * time.Minute}

// maxUnconnected is the default of Spec.Unconnected for an endpoint that weir does not start.
const maxUnconnected = 15 * time.Second

// Timeouts are the time limits of requests; 0: none.
type Timeouts struct {
	Connect time.Duration `key:"connect,zero"`
	First   time.Duration `key:"first,zero"`
	Idle    time.Duration `key:"idle,zero"`
	Total   time.Duration `key:"total,zero"`
}

var defaultTimeouts = Timeouts{10 * time.Second, 2 * time.Minute, time.Minute, 10 * time.Minute}

// SLO are the objectives of each request; 0: none.
type SLO struct {
	TTFT    time.Duration `key:"ttft,zero"`
	ITL     time.Duration `key:"itl,zero"`
	Latency time.Duration `key:"latency,zero"`
}

// sloOf reads the value of option slo, which has been validated.
func sloOf(text string) (s SLO) {
	_ = read(text, &s)
	return s
}

// MaxAnswer limits the size of an answer.
type MaxAnswer struct {
	Bytes  quantity.Size `key:"bytes"`
	Events int           `key:"events,min=1,max=4194304"`
}

var defaultMaxAnswer = MaxAnswer{stream.MaxBytes, stream.MaxEvents}

// Check validates the limits.
func (m *MaxAnswer) Check(d *structure.Decoder) {
	if m.Bytes < 1 || m.Bytes > 1<<40 {
		d.At("bytes").Fail("%q is no size from 1 B to 1 TiB", m.Bytes.String())
	}
}

// file decodes the content of a file in an option of type Data.
func file(text string) ([]byte, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the content of a file is in base64: %w", err)
	}
	return content, nil
}

// checked validates the content of a file and keeps it.
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
		_, err := prompt.ReadPrompts(content)
		return err
	})
}
