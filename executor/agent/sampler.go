package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/executor/rank"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/workload"
)

const (
	openFilesEvery = 250 * time.Millisecond // between looks at the open files of a service
	firstSample    = 10 * time.Second       // limit for the start of a vendor's library
)

// sampler samples what metrics of a service need while it runs; nil: nothing.
type sampler struct {
	what   workload.Sampled
	pid    int // of the service's rank, which leads its process group
	cancel context.CancelFunc
	wg     sync.WaitGroup

	memory   *logFile      // of rank.GPUMemoryMain; nil: none
	noMemory error         // why there are no samples, when ended is closed
	ended    chan struct{} // closed when the process has ended
	from     int64         // where samples of this launch begin in the log

	mu        sync.Mutex
	opened    []map[string]bool // files by pattern
	notOpened error
}

// GPUMemoryLog is the name of the log with the memory of GPUs, beside the log of a service.
func GPUMemoryLog(log string) string { return filepath.Join(filepath.Dir(log), "gpu_memory.log") }

// startSampling samples for the service with this log and process until stop.
func (l *nodeLaunch) startSampling(log *logFile, pid int) {
	if !l.task.Sampled.Any() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &sampler{what: l.task.Sampled, pid: pid, cancel: cancel, ended: make(chan struct{})}
	if s.what.GPUMemory {
		l.startGPUMemory(ctx, s, GPUMemoryLog(log.name))
	}
	if len(s.what.Opens) > 0 {
		s.reset()
		s.wg.Go(func() { s.watchFiles(ctx) })
	}
	l.sampler = s
	l.a.followers.sample(log.name, s)
}

func (l *nodeLaunch) startGPUMemory(ctx context.Context, s *sampler, name string) {
	log, out, err := l.a.logs.create(name)
	if err != nil {
		s.noMemory = err
		close(s.ended)
		return
	}
	s.memory = log
	l.logs = append(l.logs, log)
	argv := append(append([]string{}, l.a.o.ProbeCommand...), "--gpu-memory")
	env := l.a.environment(environ.Layers{Weir: fabric.RankEnv()}).Env
	s.wg.Go(func() {
		defer close(s.ended)
		defer out.Close()
		stderr := capture{most: maxCapture}
		s.noMemory = l.a.spawner.run(ctx, math.MaxInt64, forRanks, argv, env, out, &stderr)
		if lines := lastLines(stderr.kept.Bytes(), 1); len(lines) > 0 && ctx.Err() == nil {
			s.noMemory = errors.New(strings.TrimSpace(lines[0]))
		}
	})
}

func (s *sampler) stop() {
	if s != nil {
		s.cancel()
		s.wg.Wait()
	}
}

// begin discards the samples so far, except the last one of the memory, which may be of this launch.
func (s *sampler) begin() {
	if s == nil {
		return
	}
	if s.memory != nil {
		s.from = s.lastSample()
	}
	if len(s.what.Opens) > 0 {
		s.reset()
		s.lookAtFiles()
	}
}

// lastSample returns the offset of the last complete line of the log, and waits for the first one.
func (s *sampler) lastSample() int64 {
	for limit := time.Now().Add(firstSample); ; time.Sleep(10 * time.Millisecond) {
		st, err := s.memory.file.Stat()
		if err != nil {
			return 0
		}
		from := max(0, st.Size()-tailMax)
		text := s.memory.read(from, tailMax)
		if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
			return from + int64(bytes.LastIndexByte(text[:end], '\n')) + 1
		}
		select {
		case <-s.ended:
			return 0
		default:
		}
		if time.Now().After(limit) {
			return 0
		}
	}
}

// samples are those since begin.
func (s *sampler) samples(h redact.Values) (all workload.Samples) {
	if s == nil {
		return all
	}
	if s.what.GPUMemory {
		most, err := s.mostMemory()
		if all.GPUMemory = most; err != nil {
			all.GPUMemory, all.NoMemory = 0, h.Text("the memory of GPUs is unknown: "+err.Error())
		}
	}
	if len(s.what.Opens) == 0 {
		return all
	}
	s.lookAtFiles()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, files := range s.opened {
		all.Opened = append(all.Opened, len(files))
	}
	if s.notOpened != nil {
		all.NotOpened = h.Text(s.notOpened.Error())
	}
	return all
}

func (s *sampler) mostMemory() (int64, error) {
	most := int64(-1)
	if s.memory != nil {
		for line := range strings.Lines(string(s.memory.read(s.from, maxOutput))) {
			if strings.HasSuffix(line, "\n") {
				most = max(most, rank.MostGPUMemory(line))
			}
		}
	}
	select {
	case <-s.ended:
		if s.noMemory != nil {
			return most, s.noMemory
		}
	default:
	}
	if most < 0 {
		return most, errors.New("the driver reports that of no GPU")
	}
	return most, nil
}

func (s *sampler) watchFiles(ctx context.Context) {
	for clock := time.NewTicker(openFilesEvery); ; {
		select {
		case <-clock.C:
			s.lookAtFiles()
		case <-ctx.Done():
			clock.Stop()
			return
		}
	}
}

func (s *sampler) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notOpened, s.opened = nil, make([]map[string]bool, len(s.what.Opens))
	for i := range s.opened {
		s.opened[i] = map[string]bool{}
	}
}

// lookAtFiles adds the files that processes of the service have open now. Those of its rank are weir's own.
func (s *sampler) lookAtFiles() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range processesOf(s.pid) {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		list, err := os.ReadDir(dir)
		if errors.Is(err, os.ErrPermission) {
			s.notOpened = fmt.Errorf("the open files of process %d are hidden from weir: %w", pid, err)
		}
		for _, entry := range list { // none if the process has ended
			target, err := os.Readlink(filepath.Join(dir, entry.Name()))
			if err != nil {
				continue // closed since
			}
			for i, pattern := range s.what.Opens {
				if match, _ := path.Match(pattern, target); match { // the pattern was checked with the scenario
					s.opened[i][target] = true
				}
			}
		}
	}
}

// processesOf returns the processes of a group and their descendants, without its leader.
func processesOf(leader int) (all []int) {
	found := map[int]child.Stat{}
	for _, s := range child.Processes() {
		found[s.PID] = s
	}
	for pid := range found {
		if pid == leader {
			continue
		}
		for at := pid; at > 1; at = found[at].Parent {
			if at == leader || found[at].Group == leader {
				all = append(all, pid)
				break
			}
		}
	}
	return all
}
