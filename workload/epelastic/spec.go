package epelastic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/ep/routing"
	"github.com/weir-bench/weir/workload/move"
)

const maxMemory = 1 << 40

// Spec are the options of a case: all phases of the run, and the index of its own.
type Spec struct {
	Fabric                        string
	Layout, DispatchDtype, Scales string
	Pages, Alloc, NUMA            string
	Memory                        string `json:",omitempty"` // "": dram
	VRAMAlloc, Initiated          string `json:",omitempty"`
	Phase, Iterations             int64
	Tokens, Hidden, TopK, PerRank int64
	Seed                          int64
	Silence                       quantity.Time
	Phases                        Phases
	FabricOptions                 fabric.Options `json:",omitempty"`
}

// Decode reads the values of a case; options that are absent have their defaults.
func Decode(v option.Values) (*Spec, error) {
	s := &Spec{}
	get := Kind.Get(v)
	phases, _ := get("phases").(string)
	plan, _ := get("plan").(string)
	err := get.Read(map[string]*string{
		"fabric": &s.Fabric, "layout": &s.Layout, "dispatch_dtype": &s.DispatchDtype, "scales": &s.Scales,
		"pages": &s.Pages, "alloc": &s.Alloc, "numa": &s.NUMA, "memory": &s.Memory, "vram_alloc": &s.VRAMAlloc,
		"initiated": &s.Initiated,
	}, map[string]*int64{
		"phase": &s.Phase, "iterations": &s.Iterations, "tokens": &s.Tokens, "hidden": &s.Hidden, "top_k": &s.TopK,
		"experts_per_rank": &s.PerRank, "seed": &s.Seed,
	})
	if err != nil {
		return nil, err
	}
	var ok bool
	if s.Silence, ok = get("silence").(quantity.Time); !ok {
		return nil, fmt.Errorf("option silence is %T, not a time", get("silence"))
	}
	if fabric.Simulated(s.Fabric) {
		return nil, fmt.Errorf("fabric %s has no model of a group that changes: use a fabric that moves bytes",
			s.Fabric)
	}
	if s.FabricOptions, err = fabric.Read(s.Fabric, get); err != nil {
		return nil, err
	}
	switch {
	case plan != "":
		s.Phases, err = phasesOf(plan)
	case phases != "":
		s.Phases, err = parsePhases(phases)
	default:
		return nil, nil // the loader reports the error
	}
	if err != nil {
		return nil, err
	}
	return s, s.check()
}

func (s *Spec) check() error {
	switch {
	case s.Phase < 0 || s.Phase >= int64(len(s.Phases)):
		return fmt.Errorf("phase %d of %d", s.Phase, len(s.Phases))
	case s.Hidden%128 != 0:
		return fmt.Errorf("hidden %d is no multiple of 128, the channels that share a scale", s.Hidden)
	case float64(s.Tokens)*float64(s.TopK)*float64(s.Hidden)*float64(s.Phases.Ranks())*4 > maxMemory:
		return fmt.Errorf("messages of more than %v a rank", quantity.Size(maxMemory))
	}
	if why := s.lacks(s.Fabric); s.Fabric != fabric.AutoName && why != "" {
		return errors.New(why)
	}
	if err := s.Moves().CheckFabric(); err != nil {
		return err
	}
	return s.Steps(s.Phases.allRanks()).CheckKernels(fmt.Sprintf("phases or plan with %d ranks", s.Phases.Ranks()))
}

// lacks says which needs of the phases a fabric cannot meet; "" if it meets all.
func (s *Spec) lacks(name string) string {
	if why := s.Steps(nil).LacksKernels("ep_elastic", name); why != "" {
		return why
	}
	f, ok := fabric.Find(name)
	if ok && s.Phases.Lose() && f.DiesWithPeers != nil {
		if why := f.DiesWithPeers(s.FabricOptions); why != "" {
			return why
		}
	}
	if ok && s.Phases.Lose() && !f.OutlivesPeers {
		return fmt.Sprintf("fabric %s cannot abandon requests to a killed or muted rank: "+
			"use one of %v for such phases; ranks may join and leave over it", name, outlives())
	}
	return s.Moves().Lacks(name)
}

func outlives() (list []string) {
	for _, f := range fabric.All {
		if f.OutlivesPeers {
			list = append(list, f.Name)
		}
	}
	return list
}

func (behaviour) Spec(v option.Values) (workload.Spec, error) {
	s, err := Decode(v)
	if err == nil && s == nil {
		err = errors.New("there are neither phases nor a plan_file")
	}
	return s, err
}

// Read decodes an encoded Spec.
func Read(spec json.RawMessage) (*Spec, error) {
	s := &Spec{}
	if err := json.Unmarshal(spec, s); err != nil {
		return nil, fmt.Errorf("reading a case of workload ep_elastic: %w", err)
	}
	return s, nil
}

// Moves returns the movement as a move.Spec, for the checks of fabrics.
func (s *Spec) Moves() move.Spec {
	memory, options := cmp.Or(s.Memory, "dram"), s.FabricOptions
	if s.kernelsSend() {
		options = ep.KernelOptions(options)
	}
	return move.Spec{
		Fabric: s.Fabric, Op: "write", Initiator: memory, Target: memory, Pattern: move.MatrixPattern, Mode: "stream",
		VRAMAlloc: s.VRAMAlloc,
		Verify:    "full", Pages: s.Pages, Alloc: s.Alloc, NUMA: s.NUMA, Ranks: int64(s.Phases.Ranks()),
		Iterations: s.Iterations, Batch: 1, Threads: 1, Shards: 1, InFlight: 1, FabricOptions: options,
	}
}

// Demand is for all ranks of any phase.
func (s *Spec) Demand() workload.Demand {
	return workload.Demand{
		Runner: Runner, Ranks: s.Phases.Ranks(), Threads: 1, Fabric: s.Fabric, Lacks: s.lacks,
		NUMA: s.Moves().Placement(), GPU: s.VRAM(),
	}
}

// VRAM reports whether tokens and rows are in GPU memory, where kernels move them.
func (s *Spec) VRAM() bool { return s.Memory == fabric.VRAM }

// kernelsSend reports whether kernels send, and not the host.
func (s *Spec) kernelsSend() bool { return s.VRAM() && !s.Steps(nil).Posts() }

// Steps returns the spec of workload ep for the dispatch and combine of a group.
func (s *Spec) Steps(group []int) *ep.Spec {
	e := &ep.Spec{
		Fabric: s.Fabric, Mode: "e2e", Layout: s.Layout, Timing: "stream", Quantise: "timed", Verify: "full",
		DispatchDtype: s.DispatchDtype, Scales: s.Scales, Hidden: s.Hidden, PerRank: s.PerRank,
		Memory: s.Memory, VRAMAlloc: s.VRAMAlloc, Initiated: s.Initiated, Pushes: true,
		Ranks: int64(s.places()), Iterations: s.Iterations,
	}
	e.Routes.TopK = s.selected(group)
	e.Routes.Tokens = routing.Tokens{Least: int(s.Tokens), Most: int(s.Tokens)}
	return e
}

// places maps ranks to nodes: a fabric connects no rank alone.
func (s *Spec) places() int { return max(2, s.Phases.Ranks()) }

// selected returns the number of experts that a token of a group selects: at most all of a small group.
func (s *Spec) selected(group []int) int { return min(int(s.TopK), len(group)*int(s.PerRank)) }

// Table returns the routes of a group: each token selects different experts of the group. Ranks outside have no tokens.
func (s *Spec) Table(group []int) (*routing.Table, error) {
	ranks, topK := s.places(), s.selected(group)
	t, err := routing.Make(routing.Settings{
		Ranks: len(group), PerRank: int(s.PerRank), TopK: topK, Kind: routing.TopK, Seed: uint64(s.Seed),
		Tokens: routing.Tokens{Least: int(s.Tokens), Most: int(s.Tokens)},
	})
	if err != nil {
		return nil, err
	}
	wide := &routing.Table{
		Ranks: ranks, PerRank: t.PerRank, TopK: topK, Tokens: make([]int, ranks), Experts: make([][]int32, ranks),
		Weights: make([][]float32, ranks), Absent: make([]bool, ranks),
	}
	for rank := range ranks {
		wide.Absent[rank] = !slices.Contains(group, rank)
	}
	for i, rank := range group {
		wide.Tokens[rank], wide.Weights[rank] = t.Tokens[i], t.Weights[i]
		for _, e := range t.Experts[i] {
			wide.Experts[rank] = append(wide.Experts[rank], int32(group[int(e)/t.PerRank]*t.PerRank+int(e)%t.PerRank))
		}
	}
	return wide, nil
}

// Groups returns all groups of the run: between phases, and after ranks were lost.
func (s *Spec) Groups() (groups [][]int) {
	add := func(g []int) {
		if !slices.ContainsFunc(groups, func(o []int) bool { return slices.Equal(o, g) }) {
			groups = append(groups, g)
		}
	}
	for i, p := range s.Phases {
		if len(p.Lost()) > 0 {
			add(s.Phases.Survivors(i))
		}
		add(p.Ranks)
	}
	return groups
}

// Survivors returns the ranks of the group before a phase that remain after it.
func (p Phases) Survivors(phase int) []int {
	return without(p.Before(phase), slices.Concat(p[phase].Lost(), p.Left(phase)))
}

// compactPlan is the prefix of a plan in its canonical form.
const compactPlan = "plan:"

// canonicalPlan reads a plan file in base64, or its own result.
func canonicalPlan(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if len(text) > len(compactPlan) && text[:len(compactPlan)] == compactPlan {
		_, err := phasesOf(text)
		return text, err
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	p, err := ParsePlan(content)
	if err != nil {
		return "", err
	}
	return compactPlan + p.Structure().JSON(), nil
}

// phasesOf reads the value of option phases, or of plan in its canonical form.
func phasesOf(text string) (Phases, error) {
	return parsePhases(strings.TrimPrefix(text, compactPlan))
}

// CountRanks returns the number of ranks of the phases; 0 without phases.
func (behaviour) CountRanks(value func(option string) any) int {
	for _, option := range []string{"phases", "plan"} {
		if text, _ := value(option).(string); text != "" {
			if p, err := phasesOf(text); err == nil {
				return p.Ranks()
			}
		}
	}
	return 0
}

// Items returns for each phase in the value of option phases or plan the number of ranks that change.
func (behaviour) Items(text string) (phases [][]matrix.Field) {
	p, err := phasesOf(text)
	if err != nil {
		return nil
	}
	for i, phase := range p {
		count := func(name string, ranks []int) matrix.Field {
			return matrix.Field{Key: name, Value: strconv.Itoa(len(ranks))}
		}
		phases = append(phases, []matrix.Field{
			count("joined", p.Joined(i)), count("left", p.Left(i)), count("killed", phase.Kill),
			count("muted", phase.Mute),
		})
	}
	return phases
}

// Amount summarizes the change of a case.
func (behaviour) Amount(v option.Values) string {
	s, err := Decode(v)
	if err != nil || s == nil {
		return ""
	}
	i := int(s.Phase)
	text := fmt.Sprintf("%d ranks", len(s.Phases[i].Ranks))
	if i > 0 {
		text = fmt.Sprintf("%d → %d ranks", len(s.Phases.Before(i)), len(s.Phases[i].Ranks))
	}
	for _, part := range []struct {
		what  string
		ranks []int
	}{
		{"join", s.Phases.Joined(i)}, {"leave", s.Phases.Left(i)}, {"killed in " + s.Phases[i].At, s.Phases[i].Kill},
		{"muted in " + s.Phases[i].At, s.Phases[i].Mute},
	} {
		if len(part.ranks) > 0 {
			text += fmt.Sprintf(", %s %s", ranksText(part.ranks).Flow(), part.what)
		}
	}
	return text
}
