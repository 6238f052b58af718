//go:build !race

package planner_test

const raceFactor = 1
