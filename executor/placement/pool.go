package placement

import (
	"slices"
	"strconv"

	"github.com/weir-bench/weir/results"
)

// resource is a processor or device of a node.
type resource struct {
	name string // as in environment variables and processor lists
	numa int    // noNUMA: unknown
}

// noNUMA stands for an unknown NUMA node, or any.
const noNUMA = -1

// pool are the free resources of a node, in the order of allocation.
type pool struct {
	gpus, nics, cpus []resource
	reduced          bool // others have some of its processors
}

func poolOf(m Node) pool {
	return pool{gpus: gpusOf(m), nics: nicsOf(m.Node), cpus: cpusOf(m)}
}

// gpusOf are the GPUs by their names in CUDA_VISIBLE_DEVICES. Only indices into the kernel's list have a known NUMA
// node.
func gpusOf(m Node) []resource {
	var all []resource
	for _, name := range m.GPUs {
		r := resource{name, noNUMA}
		if i, err := strconv.Atoi(name); err == nil && i < len(m.Node.GPUs) {
			r.numa = numaOrNone(m.Node.GPUs[i].NUMA)
		}
		all = append(all, r)
	}
	return all
}

func nicsOf(n results.Node) []resource {
	var all []resource
	for _, d := range DataDevices(n) {
		all = append(all, resource{d.Name, numaOrNone(d.NUMA)})
	}
	return all
}

func cpusOf(m Node) []resource {
	numa := map[int]int{}
	for _, n := range m.Node.NUMA {
		for _, c := range results.ParseCPUs(n.CPUs) {
			numa[c] = n.ID
		}
	}
	var all []resource
	for _, c := range m.CPUs {
		r := resource{strconv.Itoa(c), noNUMA}
		if id, ok := numa[c]; ok {
			r.numa = id
		}
		all = append(all, r)
	}
	return all
}

func numaOrNone(numa *int) int {
	if numa == nil {
		return noNUMA
	}
	return *numa
}

func (p pool) without(taken []results.Binding) pool {
	gpus, nics, cpus := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, b := range taken {
		for _, name := range b.GPUs {
			gpus[name] = true
		}
		for _, name := range b.NICs {
			nics[name] = true
		}
		for _, c := range results.ParseCPUs(b.CPUs) {
			cpus[strconv.Itoa(c)] = true
		}
	}
	left := func(all []resource, gone map[string]bool) []resource {
		return slices.DeleteFunc(slices.Clone(all), func(r resource) bool { return gone[r.name] })
	}
	return pool{left(p.gpus, gpus), left(p.nics, nics), left(p.cpus, cpus), p.reduced || len(cpus) > 0}
}

func (p pool) holds(s Share) bool {
	return len(p.gpus) >= s.GPUs && len(p.nics) >= s.NICs && len(p.cpus) >= s.CPUs
}

// allocate binds a rank to resources of a pool that has enough, on the first of some NUMA nodes that has all of them.
// So equal shares fill one NUMA node after the other, and few are divided.
func (p *pool) allocate(rank int, share Share, domains []int) results.Binding {
	first := noNUMA
	if at := slices.IndexFunc(domains, func(d int) bool { return p.onNUMA(d).holds(share) }); at >= 0 {
		first = domains[at]
	}
	gpus := take(&p.gpus, share.GPUs, first)
	nics := take(&p.nics, share.NICs, preferredNUMA(first, gpus))
	cpus := take(&p.cpus, share.CPUs, preferredNUMA(first, gpus, nics))
	used := pool{gpus: gpus, nics: nics, cpus: cpus}
	return results.Binding{
		Rank: rank, GPUs: names(gpus), NICs: names(nics), CPUs: cpuList(cpus), NUMA: used.numaNodes(),
	}
}

// preferredNUMA is the NUMA node for further resources: first, otherwise that of resources that a rank has.
func preferredNUMA(first int, has ...[]resource) int {
	for _, r := range slices.Concat(has...) {
		if first == noNUMA {
			first = r.numa
		}
	}
	return first
}

// numaNodes are the NUMA nodes of the resources, ascending.
func (p *pool) numaNodes() []int {
	var all []int
	for _, r := range slices.Concat(p.gpus, p.nics, p.cpus) {
		if r.numa != noNUMA && !slices.Contains(all, r.numa) {
			all = append(all, r.numa)
		}
	}
	slices.Sort(all)
	return all
}

// onNUMA are the resources of a NUMA node, and those with an unknown one.
func (p *pool) onNUMA(domain int) pool {
	some := func(all []resource) []resource {
		return slices.DeleteFunc(slices.Clone(all),
			func(r resource) bool { return r.numa != domain && r.numa != noNUMA })
	}
	return pool{some(p.gpus), some(p.nics), some(p.cpus), p.reduced}
}

// take removes resources: first those of a NUMA node, then those with an unknown one, then any.
func take(from *[]resource, n, domain int) []resource {
	rank := func(r resource) int {
		switch r.numa {
		case domain:
			return 0
		case noNUMA:
			return 1
		}
		return 2
	}
	sorted := slices.Clone(*from)
	slices.SortStableFunc(sorted, func(a, b resource) int { return rank(a) - rank(b) })
	taken := sorted[:n]
	*from = slices.DeleteFunc(slices.Clone(*from), func(r resource) bool { return slices.Contains(taken, r) })
	return taken
}

// cpuList is a list of processors in the kernel's format.
func cpuList(cpus []resource) string {
	var list []int
	for _, c := range cpus {
		n, _ := strconv.Atoi(c.name)
		list = append(list, n)
	}
	return results.FormatCPUs(list)
}

func names(list []resource) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.name)
	}
	return out
}
