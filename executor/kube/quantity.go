package kube

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// suffixes are those of quantities in Kubernetes, longest first.
var suffixes = []struct {
	text   string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"Ei", 1 << 60},
	{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
}

// Quantity reads an amount as Kubernetes writes it: 8, 500m, 32Gi, 1e3.
func Quantity(text string) (float64, error) {
	digits, factor := text, 1.0
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(text, s.text); ok {
			digits, factor = rest, s.factor
			break
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n < 0 || math.IsNaN(n) || math.IsInf(n, 0) || strings.ContainsAny(digits, "xXpP_") {
		return 0, fmt.Errorf("%q is no quantity of Kubernetes such as 8, 500m or 32Gi", text)
	}
	return n * factor, nil
}
