package fabric

import (
	_ "embed"
	"strings"

	"github.com/weir-bench/weir/internal/option"
)

//go:embed libfabric.md
var libfabricDocs string

// libfabric is libfabric, with one of its providers.
var libfabric = Fabric{
	Name: "libfabric", OutlivesPeers: true, Docs: libfabricDocs, Network: true, VRAM: true, Sleeps: true,
	Auto:       WithRDMA,
	PathOption: "provider",
	Options:    []option.Option{{Name: "provider", Type: option.String, Default: "", Process: true}},
	Checked:    []string{"provider"},
	Environment: Environment{
		RankEnv:         []string{"IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1"},
		Prefixes:        []string{"FI_"},
		Libraries:       []string{"libfabric"},
		DeviceVariables: libfabricDevices,
		Ignored:         libfabricIgnored,
	},
}

// libfabricDevices restricts a provider to devices: efa takes several, verbs and tcp take one.
func libfabricDevices(d Devices) map[string]string {
	switch {
	case d.Driver == "efa":
		return map[string]string{"FI_EFA_IFACE": strings.Join(d.Names, ",")}
	case len(d.Names) > 1:
		return nil
	case d.Driver != "":
		return map[string]string{"FI_VERBS_DEVICE_NAME": d.Names[0]}
	}
	return map[string]string{"FI_TCP_IFACE": d.Names[0]}
}
