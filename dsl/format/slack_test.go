//go:build !race

package format_test

// slack is how many seconds hostile input may take. Alone on a machine it takes
// less than one; beside other work it may take longer.
const slack = 3
