package fabric

import (
	_ "embed"
	"strings"

	"weir/workload"
)

//go:embed libfabric.md
var libfabricDocs string

// libfabric is libfabric, with one of its providers.
var libfabric = Fabric{
	Name: "libfabric", OutlivesPeers: true, Docs: libfabricDocs, Network: true, VRAM: true, Sleeps: true,
	Auto:       WithRDMA,
	PathOption: "provider",
	Options:    []workload.Option{{Name: "provider", Type: workload.String, Default: "", Process: true}},
	Checked:    []string{"provider"},
	Environment: Environment{
		RankEnv:         []string{"IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1"},
		Prefixes:        []string{"FI_"},
		DeviceVariables: libfabricDevices,
		Ignored:         libfabricIgnored,
	},
}

// libfabricDevices name devices to the provider that has them. Provider efa takes several,
// and verbs and tcp take one.
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
