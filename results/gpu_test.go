package results

import "testing"

func TestGPUWords(t *testing.T) {
	for want, g := range map[string]GPU{
		"NVIDIA H200": {Name: "NVIDIA H200"},
		"NVIDIA H200, driver 570.86.15, 140 GiB, SM at 345 of 1980 MHz, memory at 3201 of 3201 MHz, ECC on, at most 600 W, by default 700 W, 17 of 18 NVLinks up, 0000:41:00.0": {
			Name: "NVIDIA H200", Driver: "570.86.15", Memory: 150754820096, Bus: "0000:41:00.0", ECC: "on",
			Clocks: &GPUClocks{SM: 345, SMMax: 1980, Memory: 3201, MemoryMax: 3201},
			Power:  &GPUPower{Limit: 600, Default: 700}, NVLink: &NVLink{Links: 18, Up: 17},
		},
		"T400, at most 30.0 W, fault: nvmlDeviceGetMemoryInfo: GPU is lost": {
			Name: "T400", Power: &GPUPower{Limit: 30, Default: 30}, Fault: "nvmlDeviceGetMemoryInfo: GPU is lost",
		},
	} {
		if got := g.Words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
