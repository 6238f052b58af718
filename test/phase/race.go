//go:build race

package phase

// Race is whether the race detector is built in.
const Race = true
