//go:build race

package format_test

// slack is longer under the race detector, which slows everything down.
const slack = 15
