package command

import (
	"strconv"

	"weir/workload"
)

// mostOwn bounds what one role may have to itself, so that no sum of it overflows.
const mostOwn = 1 << 16

// placeKeys are the keys of the place of a role: those of the place of a run that speak of one rank,
// and the NUMA node.
var placeKeys = []struct {
	name string
	of   func(*workload.Own) *int
}{
	{"gpus_per_rank", func(o *workload.Own) *int { return &o.GPUs }},
	{"nics_per_rank", func(o *workload.Own) *int { return &o.NICs }},
	{"cpus_per_rank", func(o *workload.Own) *int { return &o.CPUs }},
}

const numaKey = "numa"

// readPlace reads what of its node a role has to itself.
func readPlace(s *workload.Structured, path []string) (workload.Own, error) {
	own := workload.NothingOwn
	if s == nil {
		return own, nil
	}
	known := []string{numaKey}
	for _, k := range placeKeys {
		known = append(known, k.name)
	}
	f := mapping(s, path, known...)
	if f.err != nil {
		return own, f.err
	}
	for _, k := range placeKeys {
		text := f.text(k.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostOwn {
			f.fail([]string{k.name}, "%q is no number from 1 to %d", text, mostOwn)
		}
		*k.of(&own) = n
	}
	if text := f.text(numaKey); text != "" && f.err == nil {
		var err error
		if own.NUMA, err = workload.ParseNUMA(text); err != nil || own.NUMA == workload.Local {
			f.fail([]string{numaKey}, "%q is no number of a NUMA node", text)
		}
	}
	return own, f.err
}

// putPlace writes it, without what is not asked for.
func putPlace(w *writer, own workload.Own) {
	var place writer
	for _, k := range placeKeys {
		if n := *k.of(&own); n > 0 {
			place.text(k.name, strconv.Itoa(n))
		}
	}
	if own.NUMA != workload.Default {
		place.text(numaKey, own.NUMA.String())
	}
	if len(place.pairs) > 0 {
		w.put("place", place.mapping())
	}
}
