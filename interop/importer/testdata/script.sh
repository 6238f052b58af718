#!/bin/bash
set -e
source /opt/env.sh
export UCX_TLS=rc_mlx5,dc_mlx5,tcp
export UCX_IB_AR_ENABLE=no  # Disable Adaptive Routing for consistent performance
python benchmark/tools/inference_workload_matgen.py generate \
    --num-user-requests 10 \
    --num-prefill-nodes 16 \
    --num-decode-nodes 16 \
    --prefill-tp 8 \
    --prefill-pp 1 \
    --prefill-cp 1 \
    --decode-tp 8 \
    --decode-pp 1 \
    --decode-cp 1 \
    --results-dir $PWD/matrices \
    --model llama-405b
python main.py sequential-ct-perftest ./matrices/metadata.yaml --verify-buffers --json-output-path ./results.json
kubectl exec -it statefulset/etcd -- etcdctl del "" --from-key=true --prefix
time curl -s http://localhost:8000/v1/completions \
  -H 'Content-Type: application/json' \
  -d '{"model":"Qwen/Qwen3-0.6B","prompt":"Hello","max_tokens":100,"temperature":0.0,"user":"123"}'
for concurrency in 1 5 10 20; do
  echo "=== Concurrency: $concurrency ==="
  for i in $(seq 1 $concurrency); do
    curl -s -o /dev/null -w "%{time_total}\n" \
      http://localhost:8000/v1/completions \
      -H 'Content-Type: application/json' \
      -d '{"model":"Qwen/Qwen3-0.6B","prompt":"Explain AI","max_tokens":50}' &
  done
  wait
done
kubectl exec pod2 -- ucx_perftest -t ucp_put_bw -s 65536 &
sleep 7
kubectl exec pod1 -- ucx_perftest 10.0.0.1 -t ucp_put_bw -s 65536 -n 1000
aiperf profile -m Qwen/Qwen3-0.6B -u http://localhost:8000 --endpoint-type chat --streaming --concurrency 16 --request-count 160 --isl 100 --osl 32 --extra-inputs ignore_eos:true --extra-inputs temperature:0.5 --extra-inputs user:7b --extra-inputs '{"stop":["1","x"],"id":"12"}' --goodput 'time_to_first_token:500 inter_token_latency:25' -H 'X-User: me' --api-key k
vllm bench serve --model m --host h1 --port 8000 --num-prompts 200 --max-concurrency 8 --random-input-len 512 --random-output-len 128 --goodput ttft:500 tpot:25 e2el:3000 --header x-a=1 x-b=2=3 --extra-body '{"top_p":0.9,"ignore_eos":true}' --temperature 0 --save-result
guidellm benchmark --target http://localhost:8000 --model m --rate-type concurrent --rate 1,4,16 --max-seconds 30 --data "prompt_tokens=256,prompt_tokens_stdev=16,output_tokens=128"
guidellm benchmark run --target http://localhost:8000/v1 --model m --profile poisson --rate 5 --max-requests 200 --data '{"prompt_tokens": 64, "output_tokens": 32}' --request-type text_completions --random-seed 7 --disable-console
genai-perf profile -m m --endpoint-type chat --url localhost:8000 --concurrency 4 --num-prompts 40 -g request_latency:3000.5 --header A:b:c --streaming
fio --name=x --rw=read --size=1m --filename=/tmp/x
mpirun -np 8 -x NCCL_DEBUG=INFO ./build/all_reduce_perf -b 8 -e 128M -f 2 -g 1
locust --headless -u 8 -H http://h:8000
