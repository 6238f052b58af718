package native

import (
	"net"
	"strings"

	"github.com/weir-bench/weir/results"
)

// transports parses a rank's list of fabric_carriers.h. If an initiator's fabric reports nothing, it returns
// a transport without a name, so that the lack of information is visible; a target does not know what reached
// it.
func transports(list string, rank int, initiator bool) []results.Transport {
	if !initiator {
		return nil
	}
	var out []results.Transport
	data := false
	for line := range strings.Lines(list) {
		use, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || use == providerFact || use == providerSetting {
			continue
		}
		t := results.Transport{Use: results.DataUse, Ranks: []int{rank}}
		t.Name, t.Device, _ = strings.Cut(name, "/")
		switch use {
		case "c":
			t.Use = results.ControlUse
		case "p":
			t.Use = results.PossibleUse
		case "e":
			t.Emulated = true
		case "o":
			t.Opaque = true
		}
		data = data || t.Use != results.ControlUse
		out = append(out, t)
	}
	if !data {
		out = append(out, results.Transport{Use: results.DataUse, Ranks: []int{rank}})
	}
	return results.MergeTransports(out)
}

const (
	providerFact    = "f" // PROVIDER_FACT
	providerSetting = "s" // PROVIDER_SETTING
)

// providerFacts parses the facts of the provider from such a list.
func providerFacts(list string, rank int, initiator bool) []results.ProviderFact {
	var out []results.ProviderFact
	for line := range strings.Lines(list) {
		use, fact, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, value, ok := strings.Cut(fact, "/")
		if ok && initiator && (use == providerFact || use == providerSetting) {
			out = append(out, results.ProviderFact{
				Name: name, Value: value, Setting: use == providerSetting, Ranks: []int{rank},
			})
		}
	}
	return results.MergeProviderFacts(out)
}

// paths parses such a list of paths to other hosts: see weir_info. It leaves out those that return to this
// host.
func paths(list string) []results.Path {
	access := map[string]string{"d": results.RDMAAccess, "e": results.SoftwareAccess}
	var out []results.Path
	for line := range strings.Lines(list) {
		use, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		transport, device, _ := strings.Cut(name, "/")
		if !ok || transport == "" || loopback(device) { // without a name: the list was truncated
			continue
		}
		out = append(out, results.Path{Name: transport, Device: device, Access: access[use]})
	}
	return out
}

func loopback(device string) bool {
	i, err := net.InterfaceByName(device)
	return err == nil && i.Flags&net.FlagLoopback != 0
}
