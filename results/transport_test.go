package results

import (
	"reflect"
	"testing"
)

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
