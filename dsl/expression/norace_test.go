//go:build !race

package expression

const raceFactor = 1
