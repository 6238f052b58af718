package placement

import (
	"slices"
	"strconv"

	"weir/results"
)

// resource is a processor or device of a node.
type resource struct {
	name string // as environment variables and processor lists have it
	numa int    // nowhere: the kernel does not say
}

// nowhere is the memory node of what is near none, or near nobody knows which.
const nowhere = -1

// pool are resources of a node that no rank has, each kind in the order in which
// they are given out.
type pool struct {
	gpus, nics, cpus []resource
	reduced          bool // others have some of its processors
}

// poolOf is all that a node lets ranks have.
func poolOf(m Node) pool {
	return pool{gpus: gpusOf(m), nics: nicsOf(m.Node), cpus: cpusOf(m)}
}

// gpusOf are the GPUs by the names that the agent may give them. Where those are
// places in the kernel's list, which is in the order of their addresses on the bus, it
// says where they are.
func gpusOf(m Node) []resource {
	var all []resource
	for _, name := range m.GPUs {
		r := resource{name, nowhere}
		if i, err := strconv.Atoi(name); err == nil && i < len(m.Node.GPUs) {
			r.numa = near(m.Node.GPUs[i].NUMA)
		}
		all = append(all, r)
	}
	return all
}

// nicsOf are the devices that carry data between hosts.
func nicsOf(n results.Node) []resource {
	var all []resource
	for _, d := range DataDevices(n) {
		all = append(all, resource{d.Name, near(d.NUMA)})
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
		r := resource{strconv.Itoa(c), nowhere}
		if id, ok := numa[c]; ok {
			r.numa = id
		}
		all = append(all, r)
	}
	return all
}

func near(numa *int) int {
	if numa == nil {
		return nowhere
	}
	return *numa
}

// without takes out what ranks have already.
func (p pool) without(seats []results.Seat) pool {
	gpus, nics, cpus := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range seats {
		for _, name := range s.GPUs {
			gpus[name] = true
		}
		for _, name := range s.NICs {
			nics[name] = true
		}
		for _, c := range results.ParseCPUs(s.CPUs) {
			cpus[strconv.Itoa(c)] = true
		}
	}
	left := func(all []resource, gone map[string]bool) []resource {
		return slices.DeleteFunc(slices.Clone(all), func(r resource) bool { return gone[r.name] })
	}
	return pool{left(p.gpus, gpus), left(p.nics, nics), left(p.cpus, cpus), p.reduced || len(cpus) > 0}
}

// holds says whether a pool has so much.
func (p pool) holds(s Share) bool {
	return len(p.gpus) >= s.GPUs && len(p.nics) >= s.NICs && len(p.cpus) >= s.CPUs
}

// allocate gives a rank its seat, from a pool that has enough, on the first of some nodes of memory
// that can have all of it. Equal shares fill one such node after the other, so that none is left with
// room for one that was divided.
func (p *pool) allocate(rank int, share Share, domains []int) results.Seat {
	first := nowhere
	if at := slices.IndexFunc(domains, func(d int) bool { return p.in(d).holds(share) }); at >= 0 {
		first = domains[at]
	}
	gpus := take(&p.gpus, share.GPUs, first)
	nics := take(&p.nics, share.NICs, beside(first, gpus))
	cpus := take(&p.cpus, share.CPUs, beside(first, gpus, nics))
	return seatOf(rank, gpus, nics, cpus)
}

// beside is the node of memory to look for something on, given what a rank has already.
func beside(first int, has ...[]resource) int {
	for _, r := range slices.Concat(has...) {
		if first == nowhere {
			first = r.numa
		}
	}
	return first
}

// domains are the nodes of memory that anything is near, ascending.
func (p *pool) domains() []int {
	var all []int
	for _, r := range slices.Concat(p.gpus, p.nics, p.cpus) {
		if r.numa != nowhere && !slices.Contains(all, r.numa) {
			all = append(all, r.numa)
		}
	}
	slices.Sort(all)
	return all
}

// in is what of a pool may be near a node of memory: what is, and what is nowhere.
func (p *pool) in(domain int) pool {
	some := func(all []resource) []resource {
		return slices.DeleteFunc(slices.Clone(all),
			func(r resource) bool { return r.numa != domain && r.numa != nowhere })
	}
	return pool{some(p.gpus), some(p.nics), some(p.cpus), p.reduced}
}

// take takes resources out: those near a node of memory first, then those of which
// nobody knows, then any.
func take(from *[]resource, n, domain int) []resource {
	rank := func(r resource) int {
		switch r.numa {
		case domain:
			return 0
		case nowhere:
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

func seatOf(rank int, gpus, nics, cpus []resource) results.Seat {
	s := results.Seat{Rank: rank, GPUs: names(gpus), NICs: names(nics)}
	s.CPUs = listOf(cpus)
	for _, r := range slices.Concat(gpus, nics, cpus) {
		if r.numa != nowhere && !slices.Contains(s.NUMA, r.numa) {
			s.NUMA = append(s.NUMA, r.numa)
		}
	}
	slices.Sort(s.NUMA)
	return s
}

// listOf writes processors as the kernel does.
func listOf(cpus []resource) string {
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
