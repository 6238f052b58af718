package ctperftest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// matrix reads the matrix of a pattern from a file or from the YAML itself.
func (r *reader) matrix(n *yamlsyntax.Node, keys map[string]yamlsyntax.Pair, p *Pattern) {
	if s, ok := keys["storage"]; ok {
		r.error(s.KeyRange, "Storage is not moved", "The pattern reads or writes files, which weir does not support. Remove storage to keep the traffic between ranks.")
	}
	_, inFile := keys["matrix_file"]
	inline, here := keys["matrix"]
	switch tp, only := keys["tp_file"]; {
	case inFile && here:
		r.error(inline.KeyRange, "Two matrices", "The pattern has matrix and matrix_file: keep one of them.")
	case inFile:
		if name, at := r.scalar(keys, "matrix_file"); at != nil {
			p.Matrix, p.File = r.matrixFile(name, at.Range)
		}
	case here:
		p.Matrix = r.inline(inline.Value)
	case only:
		r.error(tp.KeyRange, "Unknown kind of file", "tp_file is not supported, since it contains storage. Copy its section [rdma] to a separate file, and name that file in matrix_file.")
	default:
		at := n.Range
		at.End = at.Start
		r.error(at, "No matrix", "A pattern has a matrix_file.")
	}
}

func (r *reader) matrixFile(name string, at hcl.Range) (*matrix.Matrix, string) {
	path, f, err := r.open(name, at)
	if err != nil {
		r.error(at, "Cannot read the matrix", "%v. Paths are relative to the file that names them.", err)
		return nil, ""
	}
	defer f.Close()
	if m, known := r.matrices[path]; known {
		return m, path
	}
	m, err := matrix.Parse(f, path, r.ranks)
	r.matrices[path] = m
	if syntax, ok := errors.AsType[*matrix.SyntaxError](err); ok {
		r.syntax(syntax)
	} else if err != nil {
		r.error(at, "Cannot read the matrix", "%v.", err)
	}
	if m != nil {
		r.ranks = m.Ranks()
	}
	return m, path
}

// open finds a matrix. Generated files have absolute paths of the host that made them; if the
// directory was moved, files are found by name.
func (r *reader) open(name string, at hcl.Range) (string, io.ReadCloser, error) {
	dir := filepath.Dir(r.file)
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	f, err := r.openFile(path)
	if err == nil {
		return path, f, nil
	}
	for _, other := range []string{
		filepath.Join(dir, matrices, filepath.Base(name)), filepath.Join(dir, filepath.Base(name)), name,
	} {
		if f, e := r.openFile(other); e == nil {
			r.warnOnce(at, "Matrix found elsewhere", "%s does not exist, so %s is used; other matrices likewise.", path,
				other)
			return other, f, nil
		}
	}
	return "", nil, err
}

// openRegular opens a regular file, since reading others could block.
func openRegular(path string) (io.ReadCloser, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
}

// syntax reports an error in the file of a matrix. For very large files it omits the line.
func (r *reader) syntax(e *matrix.SyntaxError) {
	src, err := r.source(e.File)
	if err == nil {
		r.files[e.File] = &hcl.File{Bytes: src}
	}
	end := hcl.Pos{Line: e.Line, Column: e.Column, Byte: e.End}
	if e.End <= len(src) && e.Start <= e.End {
		end.Column += utf8.RuneCount(src[e.Start:e.End])
	}
	r.error(hcl.Range{Filename: e.File, Start: hcl.Pos{Line: e.Line, Column: e.Column, Byte: e.Start}, End: end},
		e.Summary, "%s", e.Detail)
}

// inline reads a matrix given as a list of rows, each a list of cells.
func (r *reader) inline(n *yamlsyntax.Node) *matrix.Matrix {
	if n.Kind != yamlsyntax.Sequence || len(n.Items) == 0 {
		r.error(n.Range, "Not a matrix", "matrix is a list of rows, each a list with a cell for each receiver.")
		return nil
	}
	if r.ranks > 0 && len(n.Items) != r.ranks {
		r.error(n.Range, "Wrong number of ranks", "The matrix has %d rows, but there are %d ranks.", len(n.Items),
			r.ranks)
		return nil
	}
	before := len(r.diags)
	var cells []matrix.Cell
	for from, row := range n.Items {
		if row.Kind != yamlsyntax.Sequence || len(row.Items) != len(n.Items) {
			r.error(row.Range, "Not a square", "Row %d of the matrix is not a list of %d cells, one for each receiver.",
				from+1, len(n.Items))
			continue
		}
		for to, cell := range row.Items {
			bytes, err := matrix.ParseSize(cell.Text)
			switch {
			case cell.Kind != yamlsyntax.Scalar:
				r.error(cell.Range, "Not a size", "The cell is not a single value. Write a number of bytes, as 4096, 1.5K, 64M or 2G.")
			case err != nil:
				r.error(cell.Range, "Not a size", "Of this cell: %v.", err)
			case bytes > 0:
				cells = append(cells, matrix.Cell{From: from, To: to, Bytes: bytes})
			}
		}
	}
	if len(r.diags) > before {
		return nil
	}
	m, err := matrix.New(len(n.Items), cells)
	if err != nil {
		r.error(n.Range, "Invalid matrix", "Of this matrix: %v.", err)
		return nil
	}
	r.ranks = m.Ranks()
	return m
}
