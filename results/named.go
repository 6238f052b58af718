package results

import (
	"iter"
	"maps"
	"slices"
)

// Named are values by name, in the order of the names. A document has very many of
// them with the same few lists of names, so they share one: a map of each would take
// most of the memory that the document takes. The zero value has none and is ready to
// use. A copy has the values of the original, and shows what Set changes there, until
// one of the two is given another name.
type Named[V any] struct {
	names  []string // ascending, each once; shared, so never written to
	values []V
}

// NamedOf has the members of a map.
func NamedOf[V any](m map[string]V) Named[V] {
	if len(m) == 0 {
		return Named[V]{}
	}
	names := slices.Sorted(maps.Keys(m))
	values := make([]V, len(names))
	for i, name := range names {
		values[i] = m[name]
	}
	return Named[V]{names, values}
}

// NamedList has values by names in ascending order, each there once; it keeps both
// lists. The names are for whoever else wants them, and must not be changed.
func NamedList[V any](names []string, values []V) Named[V] { return Named[V]{names, values} }

// Len is how many there are.
func (n Named[V]) Len() int { return len(n.names) }

// Names are in ascending order, to be read only.
func (n Named[V]) Names() []string { return n.names }

// Values are in the order of Names.
func (n Named[V]) Values() []V { return n.values }

// Get finds a value.
func (n Named[V]) Get(name string) (v V, ok bool) {
	if i, ok := slices.BinarySearch(n.names, name); ok {
		return n.values[i], true
	}
	return v, false
}

// At is the value of a name, zero if there is none.
func (n Named[V]) At(name string) V {
	v, _ := n.Get(name)
	return v
}

// Set adds or replaces a value.
func (n *Named[V]) Set(name string, v V) {
	i, ok := slices.BinarySearch(n.names, name)
	if ok {
		n.values[i] = v
		return
	}
	n.names = slices.Insert(slices.Clip(n.names), i, name)
	n.values = slices.Insert(slices.Clip(n.values), i, v)
}

// Delete takes a value away, if it is there.
func (n *Named[V]) Delete(name string) {
	if i, ok := slices.BinarySearch(n.names, name); ok {
		n.names = slices.Concat(n.names[:i], n.names[i+1:])
		n.values = slices.Concat(n.values[:i], n.values[i+1:])
	}
}

// All walks names and values in order.
func (n Named[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i, name := range n.names {
			if !yield(name, n.values[i]) {
				return
			}
		}
	}
}

// IsZero says for omitzero that there are none.
func (n Named[V]) IsZero() bool { return len(n.names) == 0 }
