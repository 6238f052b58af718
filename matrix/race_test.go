//go:build race

package matrix

// raceFactor is how much slower the race detector may make things.
const raceFactor = 10
