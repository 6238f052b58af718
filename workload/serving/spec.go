package serving

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
	"github.com/weir-bench/weir/workload/serving/prompt"
	"github.com/weir-bench/weir/workload/serving/schedule"
	"github.com/weir-bench/weir/workload/serving/summary"
)

// Spec are the options of a case. Its JSON excludes the content of files.
type Spec struct {
	URL       string // may have placeholders
	Model     string
	API       string
	Stream    bool
	HTTP2     bool
	Proxy     bool     `json:",omitempty"` // use the environment's proxy
	Headers   []Header `json:",omitempty"`
	Body      string   // JSON of a structure
	Authority string   `json:",omitempty"` // TLS certificates, in base64
	Ranks     int

	Concurrency int64   `json:",omitempty"` // of a closed load
	Rate        float64 `json:",omitempty"` // of an open one, in 1/s
	Ramp        string  `json:",omitempty"`
	Arrivals    string
	MaxInFlight int64   `json:",omitempty"`
	TimeScale   float64 `json:",omitempty"`
	Search      *Search `json:",omitempty"`

	Requests        int64 // 0: Duration decides
	Duration, Grace time.Duration
	Input           Input
	Output          Output
	Turns           int
	Think           time.Duration
	Cancel          string
	Warmup          Warmup
	Ready           Ready
	Timeouts        Timeouts
	MaxAnswer       MaxAnswer
	SLO             SLO
	GPUs            int
	Window          string
	Seed            uint64
	Tokenizer       string

	// Unconnected is how long the endpoint may accept no connection, and Strange how long it may answer in another
	// form; 0: until Ready. A server that weir starts listens late, but another one runs already or its address is
	// wrong.
	Unconnected, Strange time.Duration

	trace, lines string // in base64
	services     command.Used
}

// files are the parts of a Spec that may have megabytes.
type files struct {
	Trace string `json:"trace,omitempty"`
	Lines string `json:"lines,omitempty"`
}

// Decode reads the values of a case; options that are absent have their defaults.
func Decode(v option.Values) (*Spec, error) {
	s := &Spec{}
	get := Kind.Get(v)
	var service, http, proxy, headers, served, search string
	var ranks, turns, gpus, seed int64
	err := get.Read(map[string]*string{
		"url": &s.URL, "service": &service, "model": &s.Model, "api": &s.API, "http": &http, "proxy": &proxy,
		"headers": &headers,
		"body":    &s.Body, "tls_authorities": &s.Authority, "ramp": &s.Ramp, "arrivals": &s.Arrivals,
		"trace_rows": &s.trace, "search": &search, "prompt_lines": &s.lines, "cancel": &s.Cancel,
		"window": &s.Window, "tokenizer": &s.Tokenizer, "services": &served,
	}, map[string]*int64{
		"ranks": &ranks, "max_in_flight": &s.MaxInFlight, "requests": &s.Requests, "turns": &turns, "gpus": &gpus,
		"seed": &seed,
	})
	if err != nil {
		return nil, err
	}
	if s.Search, err = readSearch(search); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.Input, s.Output, s.Warmup, s.Ready = defaultInput, defaultOutput, defaultWarmup, defaultReady
	s.Timeouts, s.MaxAnswer = defaultTimeouts, defaultMaxAnswer
	for option, into := range map[string]any{
		"input": &s.Input, "output": &s.Output, "warmup": &s.Warmup, "ready": &s.Ready, "timeout": &s.Timeouts,
		"max_answer": &s.MaxAnswer, "slo": &s.SLO,
	} {
		if text, _ := get(option).(string); text != nothing && text != "" {
			if err := read(text, into); err != nil {
				return nil, fmt.Errorf("%s: %w", option, err)
			}
		}
	}
	s.Concurrency, _ = get("concurrency").(int64)
	s.Stream, _ = get("stream").(bool)
	rate, _ := get("rate").(quantity.PerSecond)
	s.Rate = float64(rate)
	scale, _ := get("time_scale").(option.Scale)
	duration, _ := get("duration").(quantity.Time)
	grace, _ := get("grace").(quantity.Time)
	think, _ := get("think").(quantity.Time)
	s.Ranks, s.Turns, s.GPUs, s.Seed, s.HTTP2 = int(ranks), int(turns), int(gpus), uint64(seed), http == "2"
	s.TimeScale, s.Duration, s.Grace = float64(scale), time.Duration(duration), time.Duration(grace)
	s.Think, s.Proxy = time.Duration(think), proxy == "environment"
	if s.Headers, err = readHeaders(headers); err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	if s.services, err = command.Use(served); err != nil {
		return nil, err
	}
	if err := s.endpoint(service); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return s, err
	}
	return s, measurable(s.Search, v)
}

// endpoint sets the address of the load.
func (s *Spec) endpoint(service string) error {
	switch {
	case (s.URL == "") == (service == ""):
		return errors.New("a load needs exactly one endpoint: give url or service")
	case service != "":
		s.URL = placeholder.Of(command.URLName(service))
	}
	names, err := placeholder.Names(s.URL)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	for _, name := range names {
		if of, what, ok := command.OfService(name); ok && what == "url" {
			if err := s.services.CheckURL(of); err != nil {
				return fmt.Errorf("url: %w", err)
			}
		}
	}
	byDefault := s.Ready.Timeout == defaultReady.Timeout
	if byDefault {
		s.Strange = maxUnconnected
	}
	if len(names) > 0 {
		return nil
	}
	if s.Unconnected = s.Ready.Connect; byDefault {
		s.Unconnected = cmp.Or(s.Unconnected, maxUnconnected)
	}
	if !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
		return fmt.Errorf("url: %q does not begin with http:// or https://", s.URL)
	}
	return nil
}

// loads lists the options that define a load; at most one is given.
func (s *Spec) loads() (given []string) {
	for _, l := range []struct {
		name string
		is   bool
	}{
		{"concurrency", s.Concurrency > 0}, {"rate", s.Rate > 0}, {"ramp", s.Ramp != ""}, {"trace", s.trace != ""},
		{"search", s.Search != nil},
	} {
		if l.is {
			given = append(given, l.name)
		}
	}
	return given
}

func (s *Spec) check() error {
	arrivals, err := schedule.ParseArrivals(s.Arrivals)
	if err != nil {
		return fmt.Errorf("arrivals: %w", err)
	}
	atOnce := arrivals.Kind == schedule.Burst && arrivals.Size == 0
	given := s.loads()
	switch {
	case len(given) > 1:
		return fmt.Errorf("a load has at most one of concurrency, rate, ramp, trace and search, but this has %s",
			strings.Join(given, " and "))
	case len(given) == 0 && !atOnce:
		s.Concurrency = 1
	}
	search := s.Search
	if search != nil && s.Requests == 0 && s.Duration == 0 {
		s.Requests = int64(search.Promise.Enough())
	}
	switch {
	case s.Requests == 0 && s.Duration == 0 && s.trace == "":
		return errors.New("a load needs an end: give requests, or a duration as 60s")
	case s.Concurrency > 0 && int(s.Concurrency) < s.Ranks:
		return fmt.Errorf("%d client processes need at least one request each, but concurrency is %d", s.Ranks,
			s.Concurrency)
	case search != nil && search.Axis == ByConcurrency && int(search.From) < s.Ranks:
		return fmt.Errorf(
			"%d client processes need at least one request each, but the search begins with %v",
			s.Ranks,
			search.From,
		)
	case s.MaxInFlight > 0 && int(s.MaxInFlight) < s.Ranks:
		return fmt.Errorf("%d client processes need at least one request each, but max_in_flight is %d", s.Ranks,
			s.MaxInFlight)
	case s.MaxInFlight > 0 && s.Concurrency > 0:
		return errors.New("max_in_flight needs an open load: concurrency limits a closed one")
	case search != nil && s.Requests > 0 && search.Promise.TooFew(int(s.Requests)) != "":
		return errors.New("search: " + search.Promise.TooFew(int(s.Requests)))
	}
	if several(s.Body) && (s.SLO.ITL > 0 || s.Turns > 1) {
		return errors.New("n in body asks for several choices: they have no itl for slo, and no one answer for turns to repeat")
	}
	if s.Open() && search == nil {
		if err := s.CheckSchedule(); err != nil {
			return err
		}
	}
	if s.Window != string(summary.Steady) && s.Window != string(summary.Whole) {
		return fmt.Errorf("there is no window %q", s.Window)
	}
	_, err = s.Prompts(0, 0, prompt.Calibration{})
	return err
}

// Open reports whether requests have scheduled times.
func (s *Spec) Open() bool {
	if s.Search != nil {
		return s.Search.Axis == ByRate
	}
	return s.Concurrency == 0
}

// Settings are the inputs of metrics besides the records.
func (s *Spec) Settings(concurrency int) summary.Settings {
	promise := s.SLO
	return summary.Settings{
		Window: summary.Window(s.Window), Concurrency: concurrency, GPUs: s.GPUs, Several: several(s.Body),
		SLO: summary.SLO{TTFT: int64(promise.TTFT), ITL: int64(promise.ITL), Latency: int64(promise.Latency)},
	}
}

// Demand is a process for each client.
func (s *Spec) Demand() workload.Demand {
	return workload.Demand{
		Runner: Runner, Ranks: s.Ranks, Threads: 1, NUMA: option.Default, Services: s.services.Demands,
		Reveals: s.Reveals(), Values: s.values(),
	}
}

// values returns the names in url and headers that are results of runs.
func (s *Spec) values() []string {
	names, _ := placeholder.Names(s.URL) // invalid texts have no names
	for _, h := range s.Headers {
		own, _ := placeholder.Names(h.Value)
		names = append(names, own...)
	}
	return option.NamesOfRuns(names)
}

// Reveals returns the clients' environment variables that are sent to the endpoint.
func (s *Spec) Reveals() (variables []string) {
	for _, h := range s.Headers {
		names, _ := placeholder.Names(h.Value) // invalid texts have no names
		for _, name := range names {
			if variable, ok := strings.CutPrefix(name, EnvPrefix); ok {
				variables = append(variables, variable)
			}
		}
	}
	return variables
}

// Large returns the contents of files.
func (s *Spec) Large() (json.RawMessage, error) {
	if s.trace == "" && s.lines == "" {
		return nil, nil
	}
	return json.Marshal(files{s.trace, s.lines})
}

// SameLarge reports whether another case has the same files.
func (s *Spec) SameLarge(other workload.Spec) bool {
	o, ok := other.(*Spec)
	return ok && o.trace == s.trace && o.lines == s.lines
}

// Read decodes an encoded Spec and its Large part.
func Read(spec, large json.RawMessage) (*Spec, error) {
	s := &Spec{}
	if err := json.Unmarshal(spec, s); err != nil {
		return nil, fmt.Errorf("reading a case of workload serving: %w", err)
	}
	if len(large) > 0 {
		var f files
		if err := json.Unmarshal(large, &f); err != nil {
			return nil, fmt.Errorf("reading the files of a case of workload serving: %w", err)
		}
		s.trace, s.lines = f.Trace, f.Lines
	}
	return s, nil
}

// Arrange adds the time until the endpoint is ready to the first case.
func (behaviour) Arrange(cases []workload.Spec, _ time.Duration) (before time.Duration) {
	for _, c := range cases {
		before = max(before, c.(*Spec).Ready.Timeout)
	}
	return before
}

// Amount summarizes the number of requests of a case.
func (behaviour) Amount(v option.Values) string {
	if n := expected(v); n > 0 {
		return fmt.Sprintf("%d requests", n)
	}
	return ""
}

// canonicalAuthorities accepts a file with certificates.
func canonicalAuthorities(text string) (string, error) {
	return checked(text, func(content []byte) error {
		if !x509.NewCertPool().AppendCertsFromPEM(content) {
			return errors.New("it has no certificate in PEM")
		}
		return nil
	})
}
