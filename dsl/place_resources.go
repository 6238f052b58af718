// Resources that the cluster requires of each node besides GPUs.

package dsl

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/quantity"
)

// Unlimited is the locked memory of a process without a limit.
const Unlimited = math.MaxInt64

// nodeResources reads NICs, huge pages and locked memory of the cluster.
func (d *decoder) nodeResources(content *hcl.BodyContent, c *Cluster) {
	d.nicsPerNode(content, c)
	for _, e := range d.section(content, "huge_pages") {
		page, err := quantity.ParseSize(e.name)
		if err != nil || page < 4096 || page&(page-1) != 0 {
			d.error(e.at, "Invalid page size", fmt.Sprintf("%s is no size of a huge page.", quote(e.name)),
				"Write 2MiB or 1GiB.")
			continue
		}
		if bytes, ok := d.size(e.expr, "huge_pages."+e.name); ok && bytes > 0 {
			if c.HugePages == nil {
				c.HugePages = map[string]int64{}
			}
			c.HugePages[page.String()] = bytes
		}
	}
	expr := argument(content, "locked_memory")
	if expr == nil {
		return
	}
	if text, ok := d.text(expr, "locked_memory"); ok && text == "unlimited" {
		c.LockedMemory = Unlimited
	} else if ok {
		c.LockedMemory, _ = d.size(expr, "locked_memory")
	}
}

func (d *decoder) nicsPerNode(content *hcl.BodyContent, c *Cluster) {
	key, _ := grammar.Find(grammar.Cluster, "nics_per_node")
	expr := argument(content, key.Name)
	if expr != nil && !isMapping(expr) {
		c.NICsPerNode = d.count(expr, key.Name, int(key.Min), int(key.Max))
		return
	}
	var nics struct {
		Count  int    `key:"count"`
		Driver string `key:"driver"`
	}
	if _, ok := d.sectionOf(content, key.Name, grammar.NICsPerNode, &nics); ok {
		c.NICsPerNode, c.NICDriver = nics.Count, nics.Driver
	}
}

// size reads a size of at least 0 bytes.
func (d *decoder) size(expr hcl.Expression, what string) (int64, bool) {
	text, ok := d.text(expr, what)
	if !ok {
		return 0, false
	}
	n, err := quantity.ParseSize(text)
	if err != nil {
		d.error(expr.Range(), "Invalid value", fmt.Sprintf("%s: %v.", what, err), "Write a size such as 2GiB.")
		return 0, false
	}
	return int64(n), true
}

// mergeResources adds the resources that an included file requires.
func (l *loader) mergeResources(c *Cluster, from Cluster, inc *included) {
	if c.NICsPerNode > 0 && from.NICsPerNode > 0 && c.NICDriver != from.NICDriver {
		l.error(inc.at, "Contradicting devices",
			fmt.Sprintf("%s requires devices of driver %s, but another file of driver %s.", inc.file,
				quote(from.NICDriver), quote(c.NICDriver)), "Name one driver in both, or run the files separately.")
	}
	if from.NICsPerNode > 0 {
		c.NICDriver = from.NICDriver
	}
	c.NICsPerNode = max(c.NICsPerNode, from.NICsPerNode)
	c.LockedMemory = max(c.LockedMemory, from.LockedMemory)
	for _, page := range slices.Sorted(maps.Keys(from.HugePages)) {
		if c.HugePages == nil {
			c.HugePages = map[string]int64{}
		}
		c.HugePages[page] = max(c.HugePages[page], from.HugePages[page])
	}
}
