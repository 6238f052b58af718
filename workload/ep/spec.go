package ep

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep/routing"
	"github.com/weir-bench/weir/workload/move"
)

const (
	fromFile     = "file"
	maxSelected  = 64
	maxThreads   = 64
	hotDefault   = quantity.Percent(0.1)
	noneOfAll    = quantity.Percent(0)
	groupOfScale = 128 // channels that share a scale
	maxMemory    = 1 << 40
)

// Spec are the options of a case.
type Spec struct {
	Fabric                                     string
	Mode, Layout, Timing, Quantise, Verify     string
	DispatchDtype, Scales                      string
	Pages, Alloc, NUMA                         string
	Memory                                     string `json:",omitempty"` // "": dram
	VRAMAlloc                                  string `json:",omitempty"` // "": device
	KernelLaunch, Caches, Initiated            string `json:",omitempty"` // of memory vram
	Pushes                                     bool   `json:",omitempty"` // kernels push the rows of a combine
	Hidden, Iterations, Warmup, Ranks, PerRank int64
	Threads                                    int64
	Routes                                     routing.Settings
	FabricOptions                              fabric.Options `json:",omitempty"`
	// of a simulated fabric; nil: bytes are moved
	Sim *fabric.Simulation `json:",omitempty"`
	// File are the routes of a file, as canonicalRoutes formats them; "": Routes are made.
	File string `json:"-"`
}

// Decode reads the values of a case; options that are absent have their defaults.
func Decode(v option.Values) (*Spec, error) {
	s := &Spec{}
	get := Kind.Get(v)
	var topK, seed, hot, groups int64
	err := get.Read(map[string]*string{
		"fabric": &s.Fabric, "mode": &s.Mode, "layout": &s.Layout, "timing": &s.Timing, "quantise": &s.Quantise,
		"verify":         &s.Verify,
		"dispatch_dtype": &s.DispatchDtype, "scales": &s.Scales, "pages": &s.Pages, "alloc": &s.Alloc, "numa": &s.NUMA,
		"memory": &s.Memory, "vram_alloc": &s.VRAMAlloc, "kernel_launch": &s.KernelLaunch, "caches": &s.Caches,
		"initiated": &s.Initiated, "routing": &s.Routes.Kind,
	}, map[string]*int64{
		"hidden": &s.Hidden, "iterations": &s.Iterations, "warmup": &s.Warmup, "ranks": &s.Ranks,
		"experts_per_rank": &s.PerRank, "threads": &s.Threads,
		"top_k": &topK, "seed": &seed, "hot_experts": &hot, "groups": &groups,
	})
	if err != nil {
		return nil, err
	}
	r := &s.Routes
	r.Ranks, r.PerRank, r.TopK, r.Seed, r.Hot, r.Groups = int(s.Ranks), int(s.PerRank), int(topK), uint64(seed),
		int(hot), int(groups)
	for name, to := range map[string]*float64{
		"maxvio": &r.MaxVio, "zipf_s": &r.Exponent, "hot_fraction": &r.HotShare, "masked": &r.Masked,
	} {
		n, ok := option.Number(get(name))
		if !ok {
			return nil, fmt.Errorf("option %s is %T, not a number", name, get(name))
		}
		*to = n
	}
	if s.FabricOptions, err = fabric.Read(s.Fabric, get); err != nil {
		return nil, err
	}
	if fabric.Simulated(s.Fabric) {
		if s.Sim, err = fabric.ReadSimulation(get, s.Ranks); err != nil {
			return nil, err
		}
	}
	s.File, _ = v["route_table"].(string)
	if err := s.readTokens(quantity.Text(get("tokens"))); err != nil {
		return nil, err
	}
	return s, s.check()
}

// readTokens reads option tokens, which may refer to the file of routes.
func (s *Spec) readTokens(text string) error {
	switch {
	case s.Routes.Kind == fromFile && s.File == "":
		return fmt.Errorf("routing file needs the option routes: a NumPy file of [ranks, tokens, top_k] experts")
	case s.Routes.Kind != fromFile && text == routing.FromFile:
		return fmt.Errorf("tokens file is for routing file")
	case s.Routes.Kind == fromFile && text != routing.FromFile:
		return fmt.Errorf("with routing file the file says how many tokens there are: write tokens: file")
	case text == routing.FromFile:
		return nil
	}
	tokens, err := routing.ParseTokens(text)
	s.Routes.Tokens = tokens
	return err
}

// checkTokens validates a text for tokens that is no number.
func checkTokens(text string) error {
	if text == routing.FromFile {
		return nil
	}
	_, err := routing.ParseTokens(text)
	return err
}

func (s *Spec) check() error {
	switch {
	case s.Hidden%groupOfScale != 0:
		return fmt.Errorf("hidden %d is no multiple of %d, the channels that share a scale", s.Hidden, groupOfScale)
	case s.Verify == "full" && s.Timing == "stream":
		return fmt.Errorf("verify full checks each iteration before the next, which timing stream does not wait for: use timing aligned, or verify sample")
	case s.Iterations < 2 && s.Timing == "stream":
		return fmt.Errorf("timing stream does not count the first iteration: it needs at least 2")
	}
	switch {
	case s.Threads > 1 && s.VRAM():
		return fmt.Errorf("threads %d needs host memory: with memory vram kernels make, send and add up the rows",
			s.Threads)
	case s.Threads > 1 && s.Sim != nil:
		return fmt.Errorf("threads %d: fabric %s models one for each rank", s.Threads, s.Fabric)
	}
	if why := s.lacks(s.Fabric); why != "" {
		return errors.New(why)
	}
	if err := s.Moves().CheckFabric(); err != nil {
		return err
	}
	if err := s.CheckKernels(s.group()); err != nil {
		return err
	}
	if s.File != "" {
		experts, topK, err := parseRoutes(s.File)
		if err == nil && topK != s.Routes.TopK {
			err = fmt.Errorf("the routes have %d experts for each token, and top_k is %d", topK, s.Routes.TopK)
		}
		if err != nil {
			return err
		}
		t, err := routing.FromExperts(s.Routes, experts)
		if err != nil {
			return err
		}
		return s.checkSelections(slices.Max(t.Tokens))
	}
	most := quantity.Size(s.Routes.Tokens.Most) * quantity.Size(s.Routes.TopK) * quantity.Size(s.MessageRoom()+
		2*s.Hidden) * quantity.Size(s.Ranks)
	if most > maxMemory {
		return fmt.Errorf("messages of %v a rank: at most %v", most, quantity.Size(maxMemory))
	}
	return s.Routes.Check()
}

// Moves returns the movement as a move.Spec, for the checks of fabrics.
func (s *Spec) Moves() move.Spec {
	pattern := move.MatrixPattern
	if s.Sim != nil {
		pattern = "" // fabric sim models ranks without a matrix
	}
	memory := cmp.Or(s.Memory, "dram")
	return move.Spec{
		Fabric: s.Fabric, Op: "write", Initiator: memory, Target: memory, Pattern: pattern, Mode: "stream",
		VRAMAlloc: s.VRAMAlloc,
		Verify:    s.Verify,
		Pages:     s.Pages, Alloc: s.Alloc, NUMA: s.NUMA, Ranks: s.Ranks, Iterations: s.Iterations, Warmup: s.Warmup,
		Batch: 1, Threads: 1, Shards: 1, InFlight: 1,
		FabricOptions: s.fabricOptions(), Sim: s.Sim,
	}
}

// Demand returns the requirements of the case.
func (s *Spec) Demand() workload.Demand {
	runner := Runner
	if s.Sim != nil {
		runner = SimRunner
	}
	return workload.Demand{
		Runner: runner, Ranks: int(s.Ranks), Threads: int(s.Threads), Fabric: s.Fabric, Lacks: s.lacks,
		NUMA:   s.Moves().Placement(),
		Memory: uint64(s.Routes.Tokens.Least) * uint64(s.Hidden) * 2, GPU: s.VRAM(),
	}
}

// Table makes the routes.
func (s *Spec) Table() (*routing.Table, error) {
	if s.File == "" {
		return routing.Make(s.Routes)
	}
	experts, _, err := parseRoutes(s.File)
	if err != nil {
		return nil, err
	}
	return routing.FromExperts(s.Routes, experts)
}

// Large returns the file of routes.
func (s *Spec) Large() (json.RawMessage, error) {
	if s.File == "" {
		return nil, nil
	}
	return json.Marshal(s.File)
}

// SameLarge reports whether another case has the same file.
func (s *Spec) SameLarge(other workload.Spec) bool {
	o, ok := other.(*Spec)
	return ok && o.File == s.File
}

// Read decodes an encoded Spec and its Large part.
func Read(spec, large json.RawMessage) (*Spec, error) {
	s := &Spec{}
	if err := json.Unmarshal(spec, s); err != nil {
		return nil, fmt.Errorf("reading a case of workload ep: %w", err)
	}
	if len(large) > 0 {
		if err := json.Unmarshal(large, &s.File); err != nil {
			return nil, fmt.Errorf("reading the routes of a case: %w", err)
		}
	}
	return s, nil
}

// compact is the prefix of routes in their canonical form.
const compact = "routes:"

// canonicalRoutes reads a NumPy file in base64, or its own result.
func canonicalRoutes(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if strings.HasPrefix(text, compact) {
		_, _, err := parseRoutes(text)
		return text, err
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	experts, topK, err := routing.ReadNPY(content)
	if err != nil {
		return "", err
	}
	return compact + base64.StdEncoding.EncodeToString(routing.Compact(experts, topK)), nil
}

func parseRoutes(text string) (experts [][]int32, topK int, err error) {
	content, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, compact))
	if err != nil {
		return nil, 0, fmt.Errorf("routes: %w", err)
	}
	return routing.ParseCompact(content)
}

// Amount summarizes the routes.
func (behaviour) Amount(v option.Values) string {
	s, err := Decode(v)
	if err != nil {
		return ""
	}
	t, err := s.Table()
	if err != nil {
		return ""
	}
	a, l := t.Amounts(), s.sizes(t)
	busiest, _ := l.wire()
	return fmt.Sprintf("routes %s: %d experts, %.3g ranks a token, maxvio %.3g, busiest rank %v", t.Digest(), t.All(),
		a.Passed, a.MaxVio, quantity.Size(busiest))
}
