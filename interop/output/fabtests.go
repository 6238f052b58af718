package output

import (
	"fmt"
	"math/big"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var fabSize = lazyregexp.New(`^(\d+(?:\.\d)?)([kmg]?)$`)

// fabtestsSize reads a size with a k, m or g of 1024. The test truncates sizes to one decimal, so a
// size that is not a whole number of bytes is inexact.
func fabtestsSize(text string) (string, error) {
	m := fabSize().FindStringSubmatch(text)
	if m == nil || len(text) > longestNumber {
		return "", fmt.Errorf("%s is not a size", quote(text))
	}
	size, _ := new(big.Rat).SetString(m[1])
	size.Mul(size, new(big.Rat).SetInt64(map[string]int64{"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[m[2]]))
	if !size.IsInt() {
		return "", fmt.Errorf("size %s is rounded, so the exact size is unknown (use -m)", text)
	}
	return size.Num().String(), nil
}
