package routing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxSelections limits a file of routes.
const maxSelections = 1 << 24

// maxExpert is the highest number of an expert in a file.
const maxExpert = 1<<30 - 1

// The keys of a header, which is the text of a Python dictionary: NumPy sorts them, other writers do not.
var (
	npyType  = regexp.MustCompile(`'descr':\s*'([<|>=]?)([a-zA-Z])([0-9]+)'`)
	npyOrder = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// npyArray is what a header says of an array of integers.
type npyArray struct {
	signed bool
	size   int    // bytes of an integer
	shape  string // the numbers with commas
}

// parseHeader reads a header. Arrays that no routes can be are errors.
func parseHeader(head string) (npyArray, error) {
	typed, order, shape := npyType.FindStringSubmatch(head), npyOrder.FindStringSubmatch(head),
		npyShape.FindStringSubmatch(head)
	switch {
	case order == nil || shape == nil || !strings.Contains(head, "'descr'"):
		return npyArray{}, fmt.Errorf("its header lacks descr, fortran_order or shape: %s", strings.TrimSpace(head))
	case typed == nil || !strings.Contains("iu", typed[2]) || !slices.Contains([]string{"1", "2", "4", "8"}, typed[3]):
		return npyArray{}, fmt.Errorf("an array of other numbers than integers: %s", strings.TrimSpace(head))
	case order[1] == "True":
		return npyArray{}, errors.New("an array in Fortran's order: save numpy.ascontiguousarray of it")
	case typed[1] == ">" && typed[3] != "1":
		return npyArray{}, errors.New("integers with the highest byte first: save array.astype('<i4')")
	}
	return npyArray{signed: typed[2] == "i", size: int(typed[3][0] - '0'), shape: shape[1]}, nil
}

// ReadNPY reads routes from a NumPy array file (NEP 1): integers [ranks, tokens, top_k], with -1 for no selection. It
// returns the experts of each rank and top_k.
func ReadNPY(content []byte) (experts [][]int32, topK int, err error) {
	head, data, err := npyParts(content)
	if err != nil {
		return nil, 0, err
	}
	array, err := parseHeader(head)
	if err != nil {
		return nil, 0, err
	}
	var shape []int
	for part := range strings.SplitSeq(array.shape, ",") {
		if part = strings.TrimSpace(part); part != "" {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > maxSelections {
				return nil, 0, fmt.Errorf("the shape (%s)", array.shape)
			}
			shape = append(shape, n)
		}
	}
	if len(shape) != 3 || shape[0]*shape[1] > maxSelections || shape[0]*shape[1]*shape[2] > maxSelections {
		return nil, 0, fmt.Errorf("the shape (%s): routes are [ranks, tokens, top_k], at most %d numbers", array.shape,
			maxSelections)
	}
	size, count := array.size, shape[0]*shape[1]*shape[2]
	if len(data) != size*count {
		return nil, 0, fmt.Errorf("%d bytes for an array of %d: it is cut short, or has more", len(data), size*count)
	}
	for range shape[0] {
		list := make([]int32, shape[1]*shape[2])
		for i := range list {
			v := integer(data[:size], array.signed)
			if data = data[size:]; v < Masked || v > maxExpert {
				return nil, 0, fmt.Errorf("expert %d", v)
			}
			list[i] = int32(v)
		}
		experts = append(experts, list)
	}
	return experts, shape[2], nil
}

// npyParts splits a file into its header and its data.
func npyParts(content []byte) (head string, data []byte, err error) {
	magic := []byte("\x93NUMPY")
	if !bytes.HasPrefix(content, magic) || len(content) < 12 {
		return "", nil, errors.New("it is no array file of NumPy (.npy)")
	}
	size, at := int(binary.LittleEndian.Uint16(content[8:])), 10
	if content[6] > 1 {
		size, at = int(binary.LittleEndian.Uint32(content[8:])), 12
	}
	if size < 0 || size > len(content)-at {
		return "", nil, errors.New("its header is cut short")
	}
	return string(content[at : at+size]), content[at+size:], nil
}

func integer(b []byte, signed bool) int64 {
	var v uint64
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	if shift := 64 - 8*len(b); signed {
		return int64(v<<shift) >> shift
	}
	return int64(min(v, 1<<62))
}

// FromExperts makes the table of routes from a file. Weights follow from the seed.
func FromExperts(s Settings, experts [][]int32) (*Table, error) {
	if len(experts) != s.Ranks {
		return nil, fmt.Errorf("the routes have %d ranks, expected %d", len(experts), s.Ranks)
	}
	t := &Table{Ranks: s.Ranks, PerRank: s.PerRank, TopK: s.TopK, Experts: experts}
	for rank, list := range experts {
		for i, e := range list {
			if int(e) >= t.All() {
				return nil, fmt.Errorf("token %d of rank %d goes to expert %d, and there are %d: raise experts_per_rank",
					i/s.TopK, rank, e, t.All())
			}
		}
		t.Tokens = append(t.Tokens, len(list)/s.TopK)
	}
	t.mask(s)
	t.weigh(s)
	return t, nil
}

// Compact encodes experts: ranks, tokens and top_k, then each expert plus 1, all as varints. All ranks have equally
// many tokens.
func Compact(experts [][]int32, topK int) []byte {
	b := binary.AppendUvarint(nil, uint64(len(experts)))
	b = binary.AppendUvarint(b, uint64(len(experts[0])/topK))
	b = binary.AppendUvarint(b, uint64(topK))
	for _, list := range experts {
		for _, e := range list {
			b = binary.AppendUvarint(b, uint64(e-Masked))
		}
	}
	return b
}

// ParseCompact decodes the form of Compact.
func ParseCompact(b []byte) (experts [][]int32, topK int, err error) {
	next := func(most uint64) int {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > most {
			err = errors.New("routes: cut short, or damaged")
			return 0
		}
		b = b[n:]
		return int(v)
	}
	ranks, tokens, topK := next(maxSelections), next(maxSelections), next(maxSelections)
	if err != nil || ranks < 1 || tokens < 1 || topK < 1 || ranks*tokens > maxSelections ||
		ranks*tokens*topK > len(b) {
		return nil, 0, errors.New("routes: cut short, or damaged")
	}
	for range ranks {
		list := make([]int32, tokens*topK)
		for i := range list {
			list[i] = int32(next(maxExpert+1)) + Masked
		}
		experts = append(experts, list)
	}
	if err == nil && len(b) > 0 {
		err = errors.New("routes: more bytes than routes")
	}
	return experts, topK, err
}
