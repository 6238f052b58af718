//go:build race

package expression

// raceFactor is the slowdown by the race detector.
const raceFactor = 10
