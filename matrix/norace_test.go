//go:build !race

package matrix

const raceFactor = 1
