//go:build race

package planner_test

// raceFactor is how much slower the race detector may make things.
const raceFactor = 10
