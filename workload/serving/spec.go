package serving

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"weir/placeholder"
	"weir/quantity"
	"weir/serving/prompt"
	"weir/serving/schedule"
	"weir/serving/summary"
	"weir/workload"
	"weir/workload/command"
)

// Spec are the options of a case. Texts of structures are read again by whoever needs them, so
// that a Spec is its own JSON.
type Spec struct {
	URL       string // a text of package placeholder
	Model     string
	API       string
	Stream    bool
	HTTP2     bool
	Proxy     bool     `json:",omitempty"` // that of the environment
	Headers   []Header `json:",omitempty"`
	Body      string   // JSON of a structure
	Authority string   `json:",omitempty"` // of TLS, in base64
	Ranks     int

	Concurrency int64   `json:",omitempty"` // of a closed load
	Rate        float64 `json:",omitempty"` // of an open one, in 1/s
	Ramp        string  `json:",omitempty"`
	Arrivals    string
	MaxInFlight int64   `json:",omitempty"`
	TimeScale   float64 `json:",omitempty"`
	Search      string  // JSON of a structure

	Requests        int64 // 0: Duration says
	Duration, Grace time.Duration
	Input, Output   string // JSON of structures
	Turns           int
	Think           time.Duration
	Cancel          string
	Warmup          string // JSON of structures
	Ready, Timeout  string
	MaxAnswer       string
	SLO             string
	GPUs            int
	Window          string
	Seed            uint64
	Tokenizer       string

	trace, lines string // in base64
	services     command.Used
}

// files are the parts of a Spec that may have megabytes.
type files struct {
	Trace string `json:"trace,omitempty"`
	Lines string `json:"lines,omitempty"`
}

// Decode reads the values of a case; options that are absent have their defaults.
func Decode(v workload.Values) (*Spec, error) {
	s := &Spec{}
	get := Kind.Get(v)
	var service, http, proxy, headers, served string
	var ranks, turns, gpus, seed int64
	err := get.Read(map[string]*string{
		"url": &s.URL, "service": &service, "model": &s.Model, "api": &s.API, "http": &http, "proxy": &proxy,
		"headers": &headers,
		"body":    &s.Body, "tls_authorities": &s.Authority, "ramp": &s.Ramp, "arrivals": &s.Arrivals,
		"trace_rows": &s.trace, "search": &s.Search, "input": &s.Input, "prompt_lines": &s.lines, "output": &s.Output,
		"cancel": &s.Cancel, "warmup": &s.Warmup, "ready": &s.Ready, "timeout": &s.Timeout,
		"max_answer": &s.MaxAnswer, "slo": &s.SLO,
		"window": &s.Window, "tokenizer": &s.Tokenizer, "services": &served,
	}, map[string]*int64{
		"ranks": &ranks, "max_in_flight": &s.MaxInFlight, "requests": &s.Requests, "turns": &turns, "gpus": &gpus,
		"seed": &seed,
	})
	if err != nil {
		return nil, err
	}
	s.Concurrency, _ = get("concurrency").(int64)
	s.Stream, _ = get("stream").(bool)
	rate, _ := get("rate").(quantity.PerSecond)
	s.Rate = float64(rate)
	scale, _ := get("time_scale").(workload.Scale)
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
	return s, measurable(s.Searching(), v)
}

// endpoint finds the address of the load.
func (s *Spec) endpoint(service string) error {
	switch {
	case (s.URL == "") == (service == ""):
		return errors.New("a load has an endpoint: give its url, or the service that it is")
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
	if len(names) == 0 && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
		return fmt.Errorf("url: %q does not begin with http:// or https://", s.URL)
	}
	return nil
}

// loads are the options of which a load has at most one.
func (s *Spec) loads() (given []string) {
	for _, l := range []struct {
		name string
		is   bool
	}{
		{"concurrency", s.Concurrency > 0}, {"rate", s.Rate > 0}, {"ramp", s.Ramp != ""}, {"trace", s.trace != ""},
		{"search", s.Search != nothing},
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
		return fmt.Errorf("a load has one of concurrency, rate, ramp, trace and search, and this has %s",
			strings.Join(given, " and "))
	case len(given) == 0 && !atOnce:
		s.Concurrency = 1
	}
	search, _, err := readSearch(s.Search)
	if err != nil {
		return err
	}
	if search != nil && s.Requests == 0 && s.Duration == 0 {
		s.Requests = int64(search.Promise.Enough())
	}
	switch {
	case s.Requests == 0 && s.Duration == 0 && s.trace == "":
		return errors.New("a load ends: give requests, or a duration as 60s")
	case s.Concurrency > 0 && int(s.Concurrency) < s.Ranks:
		return fmt.Errorf("%d client processes have a request each, and concurrency is %d", s.Ranks, s.Concurrency)
	case search != nil && search.Axis == ByConcurrency && int(search.From) < s.Ranks:
		return fmt.Errorf(
			"%d client processes have a request each, and the search begins with %v",
			s.Ranks,
			search.From,
		)
	case s.MaxInFlight > 0 && int(s.MaxInFlight) < s.Ranks:
		return fmt.Errorf("%d client processes have a request each, and max_in_flight is %d", s.Ranks, s.MaxInFlight)
	case s.MaxInFlight > 0 && s.Concurrency > 0:
		return errors.New("max_in_flight is of an open load: a closed one has concurrency requests in flight")
	case search != nil && s.Requests > 0 && search.Promise.TooFew(int(s.Requests)) != "":
		return errors.New("search: " + search.Promise.TooFew(int(s.Requests)))
	}
	if s.Open() && search == nil {
		if err := s.CheckSchedule(); err != nil {
			return err
		}
	}
	if s.Window != string(summary.Steady) && s.Window != string(summary.Whole) {
		return fmt.Errorf("there is no window %q", s.Window)
	}
	if _, err := s.Prompts(0, 0, prompt.Calibration{}); err != nil {
		return err
	}
	_, err = s.Timeouts()
	return err
}

// Open says whether requests are due at times.
func (s *Spec) Open() bool {
	if search, _, _ := readSearch(s.Search); search != nil {
		return search.Axis == ByRate
	}
	return s.Concurrency == 0
}

// Searching is the search of a load; nil: it has none.
func (s *Spec) Searching() *Search {
	search, _, _ := readSearch(s.Search) // which was checked
	return search
}

// Timeouts are the bounds of requests.
func (s *Spec) Timeouts() (Timeouts, error) {
	t, _, err := readTimeout(s.Timeout)
	return t, err
}

// WarmingUp is what is sent before the measured requests.
func (s *Spec) WarmingUp() Warmup {
	w, _, _ := readWarmup(s.Warmup) // which was checked as an option
	return w
}

// ReadyWithin is how long the endpoint may take until it answers a request.
func (s *Spec) ReadyWithin() time.Duration {
	d, _, _ := readReady(s.Ready)
	return d
}

// Settings are what the metrics depend on besides the records.
func (s *Spec) Settings(concurrency int) summary.Settings {
	promise, _, _ := readSLO(s.SLO)
	return summary.Settings{
		Window: summary.Window(s.Window), Concurrency: concurrency, GPUs: s.GPUs,
		SLO: summary.SLO{TTFT: int64(promise.TTFT), ITL: int64(promise.ITL), Latency: int64(promise.Latency)},
	}
}

// Demand is a process for each client.
func (s *Spec) Demand() workload.Demand {
	return workload.Demand{
		Runner: Runner, Ranks: s.Ranks, Threads: 1, NUMA: workload.Default, Services: s.services.Demands,
		Reveals: s.Reveals(), Values: s.values(),
	}
}

// values are names in url and headers that are values of runs.
func (s *Spec) values() []string {
	names, _ := placeholder.Names(s.URL) // of a text that is none, nothing is asked
	for _, h := range s.Headers {
		own, _ := placeholder.Names(h.Value)
		names = append(names, own...)
	}
	return workload.NamesOfRuns(names)
}

// Reveals are the variables of the clients' environment whose values the endpoint gets.
func (s *Spec) Reveals() (variables []string) {
	for _, h := range s.Headers {
		names, _ := placeholder.Names(h.Value) // of a text that is none, nothing is sent
		for _, name := range names {
			if variable, ok := strings.CutPrefix(name, EnvPrefix); ok {
				variables = append(variables, variable)
			}
		}
	}
	return variables
}

// Large are the contents of files.
func (s *Spec) Large() (json.RawMessage, error) {
	if s.trace == "" && s.lines == "" {
		return nil, nil
	}
	return json.Marshal(files{s.trace, s.lines})
}

// SameLarge says whether another case has the same files.
func (s *Spec) SameLarge(other workload.Spec) bool {
	o, ok := other.(*Spec)
	return ok && o.trace == s.trace && o.lines == s.lines
}

// Read reads what Spec and Large of a case were written as.
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

// arrange gives the first case the time in which the endpoint becomes ready.
func arrange(cases []workload.Spec, _ time.Duration) (before time.Duration) {
	for _, c := range cases {
		before = max(before, c.(*Spec).ReadyWithin())
	}
	return before
}

// amount is how many requests a case has.
func amount(v workload.Values) string {
	if n := expected(v); n > 0 {
		return fmt.Sprintf("%d requests", n)
	}
	return ""
}

// canonicalAuthorities keeps a file of certificates, if it has any.
func canonicalAuthorities(text string) (string, error) {
	return checked(text, func(content []byte) error {
		if !x509.NewCertPool().AppendCertsFromPEM(content) {
			return errors.New("it has no certificate in PEM")
		}
		return nil
	})
}
