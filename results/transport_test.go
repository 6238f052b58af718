package results

import (
	"reflect"
	"testing"
)

func TestCarriedBy(t *testing.T) {
	a, b := Transport{Name: "a", Use: DataUse, Ranks: []int{0}}, Transport{
		Name: "b", Device: "x", Use: DataUse, Ranks: []int{0},
	}
	c, d := Transport{Name: "c", Use: PossibleUse, Ranks: []int{0}},
		Transport{Name: "d", Use: PossibleUse, Ranks: []int{0}}
	wire := Transport{Name: "w", Use: ControlUse, Ranks: []int{7}}
	copied, elsewhere := a, b
	copied.Emulated = true
	elsewhere.Ranks = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for want, list := range map[string][]Transport{
		"":                             {wire},
		"a":                            {a, wire},
		"a and b/x":                    {a, b},
		"c":                            {c},
		"c or d (one or more of them)": {c, d, wire},
		"a (and possibly c or d)":      {c, a, d},
		"a and b/x (and possibly c)":   {a, b, c},
		"a (by active messages)":       {copied},
		"unnamed by the fabric":        {{Use: DataUse}},
		"a of rank 0 and b/x of ranks 1, 2, 3, 4, 5, 6, 7, 8, …": {a, elsewhere},
	} {
		if got := CarriedBy(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMergeTransports(t *testing.T) {
	got := MergeTransports([]Transport{
		{Name: "tcp", Device: "eth0", Use: ControlUse, Ranks: []int{3}},
		{Name: "rc_mlx5", Device: "mlx5_1:1", Use: DataUse, Ranks: []int{1}},
		{Name: "rc_mlx5", Device: "mlx5_0:1", Use: DataUse, Ranks: []int{2}},
		{Name: "rc_mlx5", Device: "mlx5_0:1", Use: DataUse, Ranks: []int{0, 2}},
		{Name: "rc_mlx5", Device: "mlx5_0:1", Use: DataUse, Emulated: true, Ranks: []int{5}},
	})
	want := []Transport{
		{Name: "rc_mlx5", Device: "mlx5_0:1", Use: DataUse, Ranks: []int{0, 2}},
		{Name: "rc_mlx5", Device: "mlx5_0:1", Use: DataUse, Emulated: true, Ranks: []int{5}},
		{Name: "rc_mlx5", Device: "mlx5_1:1", Use: DataUse, Ranks: []int{1}},
		{Name: "tcp", Device: "eth0", Use: ControlUse, Ranks: []int{3}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
