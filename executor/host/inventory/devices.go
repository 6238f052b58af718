package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// loopback is the kernel's type of loopback interfaces (ARPHRD_LOOPBACK).
const loopback = 772

func (t tree) nics() []results.NIC {
	list := []results.NIC{}
	for _, name := range t.glob("sys/class/net/*") {
		kind, ok := t.number(name + "/type")
		if !ok || kind == loopback {
			continue
		}
		mtu, _ := t.number(name + "/mtu")
		nic := results.NIC{
			Name: path.Base(name), MTU: mtu, State: t.text(name + "/operstate"),
			Driver: t.link(name + "/device/driver"), NUMA: t.nearNode(name + "/device/numa_node"),
		}
		if mbits, ok := t.number(name + "/speed"); ok && mbits > 0 {
			nic.Speed = fmt.Sprintf("%g Gb/s", float64(mbits)/1000)
		}
		for _, d := range t.glob(name + "/device/infiniband/*") {
			nic.RDMA = append(nic.RDMA, path.Base(d))
		}
		list = append(list, nic)
	}
	slices.SortFunc(list, func(a, b results.NIC) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (t tree) rdma() []results.RDMA {
	var list []results.RDMA
	for _, name := range t.glob("sys/class/infiniband/*") {
		d := results.RDMA{
			Name: path.Base(name), Driver: t.link(name + "/device/driver"), Firmware: t.text(name + "/fw_ver"),
			NUMA: t.nearNode(name + "/device/numa_node"), Ports: []results.RDMAPort{},
		}
		for _, p := range t.glob(name + "/ports/*") {
			_, state, _ := strings.Cut(t.text(p+"/state"), ": ") // "4: ACTIVE"
			rate, _, _ := strings.Cut(t.text(p+"/rate"), " (")   // "400 Gb/sec (4X NDR)"
			d.Ports = append(d.Ports, results.RDMAPort{
				Port: trailing(p), State: state, Rate: strings.Replace(rate, "/sec", "/s", 1),
				Link: t.text(p + "/link_layer"),
			})
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b results.RDMA) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (t tree) gpus() []results.GPU {
	list := []results.GPU{}
	driver := ""
	for _, word := range strings.Fields(t.text("proc/driver/nvidia/version")) {
		if word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			driver = word
			break
		}
	}
	for _, name := range t.glob("proc/driver/nvidia/gpus/*/information") {
		bus := path.Base(path.Dir(name))
		list = append(list, results.GPU{
			Name: field(t.text(name), "Model", ":"), Driver: driver, Bus: bus,
			NUMA: t.nearNode("sys/bus/pci/devices/" + bus + "/numa_node"),
		})
	}
	return list
}

// Near adds the NUMA nodes to GPUs that the vendor's library has described.
func Near(root fs.FS, list []results.GPU) []results.GPU {
	t := tree{root}
	for i := range list {
		if list[i].Bus != "" {
			list[i].NUMA = t.nearNode("sys/bus/pci/devices/" + list[i].Bus + "/numa_node")
		}
	}
	return list
}
