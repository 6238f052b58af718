package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/kube"
)

// image is the image of a pod's agent: what the pod names, and what its node runs.
type image struct{ Named, Digest string }

func imageOf(it *kube.Item) (i image) {
	for _, c := range it.Spec.Containers {
		if c.Name == agent {
			i.Named = c.Image
		}
	}
	if _, digest, ok := strings.Cut(agentOf(it).ImageID, "@"); ok {
		i.Digest = digest // otherwise it is not that of a registry
	}
	return i
}

// Images implements launcher.Imaged.
func (h *handle) Images() map[string]string { return h.images }

func imagesOf(pods []pod) map[string]string {
	all := map[string]string{}
	for _, p := range pods {
		text := p.image.Named
		if p.image.Digest != "" && !strings.Contains(text, "@") {
			text += "@" + p.image.Digest
		}
		if text != "" {
			all[p.Node] = text
		}
	}
	return all
}

// imageNews says which image the pods run, if their nodes tell, and what differs from the manifest: an image that the
// cluster has replaced, or a tag that has been moved, so that nodes run different ones.
func imageNews(asked string, pods []pod) (news []string) {
	nodes := map[string][]string{} // by digest
	for _, p := range pods {
		if n := p.image.Named; n != "" && n != asked {
			news = append(news, fmt.Sprintf("warning: %s runs image %s instead of %s: the cluster has replaced it",
				p.Node, n, asked))
		}
		if p.image.Digest != "" {
			nodes[p.image.Digest] = append(nodes[p.image.Digest], p.Node)
		}
	}
	if len(nodes) == 0 {
		return news
	}
	var each []string
	for digest, of := range nodes {
		slices.Sort(of)
		each = append(each, strings.Join(of, ", ")+": "+digest)
	}
	slices.Sort(each)
	if len(nodes) == 1 {
		for digest := range nodes {
			return append(news, fmt.Sprintf("image %s is %s", asked, digest))
		}
	}
	return append(news, fmt.Sprintf("warning: image %s is not the same on all nodes (%s): name it by its digest",
		asked, strings.Join(each, "; ")))
}

// askedImage is the image of the agent in the manifest of the Job, with all patches.
func askedImage(job object) string {
	containers, _ := kube.Part(job, "spec", "template", "spec")["containers"].([]any)
	for _, c := range containers {
		if c, ok := c.(object); ok && c["name"] == agent {
			text, _ := c["image"].(string)
			return text
		}
	}
	return ""
}
