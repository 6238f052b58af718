package results

import (
	"iter"
	"maps"
	"slices"
)

// Named is a sorted map from names to values. Documents contain very many of them with the same few lists
// of names, which they share: maps would take most of the document's memory. The zero value is empty and
// ready to use. A copy shares values with the original until a name is added to one of them.
type Named[V any] struct {
	names  []string // ascending, each once; shared, so never written to
	values []V
}

// NamedOf converts a map.
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

// NamedList takes ownership of distinct names in ascending order with their values. The names may be
// shared and must not be changed.
func NamedList[V any](names []string, values []V) Named[V] { return Named[V]{names, values} }

// Len is the number of values.
func (n Named[V]) Len() int { return len(n.names) }

// Names returns the names in ascending order, read-only.
func (n Named[V]) Names() []string { return n.names }

// Values are in the order of Names.
func (n Named[V]) Values() []V { return n.values }

// Get returns a value and whether it exists.
func (n Named[V]) Get(name string) (v V, ok bool) {
	if i, ok := slices.BinarySearch(n.names, name); ok {
		return n.values[i], true
	}
	return v, false
}

// At returns the value of a name, zero if there is none.
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

// Delete removes a value, if it exists.
func (n *Named[V]) Delete(name string) {
	if i, ok := slices.BinarySearch(n.names, name); ok {
		n.names = slices.Concat(n.names[:i], n.names[i+1:])
		n.values = slices.Concat(n.values[:i], n.values[i+1:])
	}
}

// All iterates over names and values in order.
func (n Named[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i, name := range n.names {
			if !yield(name, n.values[i]) {
				return
			}
		}
	}
}

// IsZero reports for omitzero that it is empty.
func (n Named[V]) IsZero() bool { return len(n.names) == 0 }
