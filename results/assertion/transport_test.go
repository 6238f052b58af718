package assertion

import "testing"

func TestTransportMatches(t *testing.T) {
	for _, c := range []struct {
		want         string
		prefix       bool
		name, device string
		matches      bool
	}{
		{"rc_mlx5", false, "rc_mlx5", "mlx5_0:1", true},
		{"rc_mlx5/mlx5_0:1", false, "rc_mlx5", "mlx5_0:1", true},
		{"rc_mlx5/mlx5_1:1", false, "rc_mlx5", "mlx5_0:1", false},
		{"rc", false, "rc_mlx5", "mlx5_0:1", false},
		{"rc", true, "rc_mlx5", "mlx5_0:1", true},
		{"mlx5", true, "rc_mlx5", "mlx5_0:1", false},
		{"tcp", false, "tcp;ofi_rxm", "", true},
		{"ofi_rxm", false, "tcp;ofi_rxm", "", true},
		{"tcp;ofi_rxm", false, "tcp;ofi_rxm", "", true},
		{"tcp/eth0", false, "tcp;ofi_rxm", "eth0", true},
		{"TCP", false, "tcp", "", false},
		{"", true, "tcp", "", true}, // the language refuses it
	} {
		s := Transport{Of: Some, Names: []string{"other", c.want}, Prefix: c.prefix}
		if got := s.Matches(c.name, c.device); got != c.matches {
			t.Errorf("%q (prefix %v) matches %s/%s: %v", c.want, c.prefix, c.name, c.device, got)
		}
	}
}

func TestTransportInWords(t *testing.T) {
	for want, s := range map[string]Transport{
		"every transport is rc_mlx5 or dc_mlx5": {Of: All, Names: []string{"rc_mlx5", "dc_mlx5"}},
		"no transport is tcp":                   {Of: None, Names: []string{"tcp"}},
		"some transport starts with rc":         {Of: Some, Names: []string{"rc"}, Prefix: true},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
